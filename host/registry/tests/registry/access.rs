use baler_registry::{Credentials, Options, SigningKey, Transport, Unsigned};

use crate::server::{Demand, Fault, Server};
use crate::support::{Project, WASM, options, place_of, publish, said, wanted};

fn with_password(server: &Server, password: &str) -> Transport {
    let credentials = Credentials::new("me".into(), password.into());
    open(server, options().with_credentials(Some(credentials)))
}

fn open(server: &Server, options: Options) -> Transport {
    Transport::open(&place_of(server), options).unwrap()
}

#[tokio::test]
async fn a_password_or_a_token_gives_access() {
    for demand in [Demand::Password, Demand::Token] {
        let (server, key) = (Server::start().await, SigningKey::generate().unwrap());
        server.set(|held| held.demand = demand);
        publish(&with_password(&server, "hunter2"), WASM, "0.1.0", &key).await;
        let wanted = wanted(place_of(&server), &key);
        let from = with_password(&server, "hunter2");
        let pulled = Project::new()
            .pull(&from, &wanted, Unsigned::Refuse)
            .await
            .unwrap();
        assert_eq!(pulled.wasm, WASM);
        if demand == Demand::Token {
            let held = server.held.lock().unwrap();
            // The password goes to the server of tokens alone: once to push, and once to pull.
            let with_password = held.requests.iter().filter(|(_, _, authorization)| {
                authorization
                    .as_ref()
                    .is_some_and(|it| it.starts_with("Basic"))
            });
            let paths: Vec<&str> = with_password.map(|(_, path, _)| path.as_str()).collect();
            let scope = "/token?scope=repository%3Aacme%2Fkeep-newest%3Apull";
            let expected = ["%2Cpush", ""].map(|more| format!("{scope}{more}&service=tests"));
            assert_eq!(paths, expected);
        }
        for (from, found) in [
            (
                with_password(&server, "wrong"),
                "found those that it was given",
            ),
            (open(&server, options()), "found none"),
        ] {
            let project = Project::new();
            let error = project
                .pull(&from, &wanted, Unsigned::Refuse)
                .await
                .unwrap_err();
            let error = said(&error);
            assert!(
                error.contains(found) && error.contains("docker login"),
                "{error}"
            );
            assert!(!error.contains("wrong"), "{error}");
            assert!(project.is_untouched());
        }
    }
}

#[tokio::test]
async fn a_token_is_fetched_only_where_nobody_reads_along() {
    let (server, key) = (Server::start().await, SigningKey::generate().unwrap());
    let wanted = wanted(place_of(&server), &key);
    server.set(|held| held.demand = Demand::Token);
    server.fail(Fault::Endless("/token"));
    let pull = || async {
        let from = with_password(&server, "hunter2");
        let pulled = Project::new().pull(&from, &wanted, Unsigned::Refuse).await;
        said(&pulled.unwrap_err())
    };
    let error = pull().await;
    assert!(error.contains("at most 65536 bytes of a token"), "{error}");
    let other = Server::start().await;
    let realm = format!("http://{}/token", other.host());
    server.fail(Fault::Realm(realm));
    let error = pull().await;
    let parts = ["encrypted connections to", &other.host()];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    assert!(other.held.lock().unwrap().requests.is_empty());
    // A redirect of the token's server is not followed either.
    server.fail(Fault::Redirect("/token", "http://registry.example/".into()));
    let error = pull().await;
    assert!(error.contains("found 307"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
