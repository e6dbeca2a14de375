use serde_json::{Value, json};

use crate::support::{get, journey, post, send, serve};

fn validator(document: &Value, schema: &Value) -> jsonschema::Validator {
    let mut whole = schema.clone();
    whole["components"] = document["components"].clone();
    jsonschema::validator_for(&whole).expect("a schema")
}

fn assert_valid(document: &Value, schema: &Value, value: &Value, what: &str) {
    let validator = validator(document, schema);
    let problems: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(problems, Vec::<String>::new(), "{what}");
}

#[tokio::test]
async fn every_documented_path_is_served_as_documented() {
    let server = serve(|builder| builder).await;
    let document = get(&server, "/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().expect("paths");
    assert_eq!(paths.len(), 6);
    let mut refused_operations = 0;
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let what = format!("{method} {path}");
            let request = &operation["requestBody"]["content"]["application/json"];
            let body = match request.get("example") {
                Some(example) => {
                    assert_valid(&document, &request["schema"], example, &what);
                    example.to_string()
                }
                None => String::new(),
            };
            let headers = [("Content-Type", "application/json")];
            let method = method.to_uppercase();
            let response = send(server.address, &method, path, &headers, &body).await;
            assert_eq!(response.status, 200, "{what}: {response:?}");
            let (of, content) = operation["responses"]["200"]["content"]
                .as_object()
                .and_then(|content| content.iter().next())
                .expect("a content");
            assert!(
                response.headers["content-type"].starts_with(of.as_str()),
                "{what}"
            );
            let answer = if of == "application/json" {
                response.json()
            } else {
                json!(response.body)
            };
            assert_valid(&document, &content["schema"], &answer, &what);
            if let Some(refusal) = operation["responses"].get("400") {
                refused_operations += 1;
                let refused = send(server.address, &method, path, &headers, "{").await;
                assert_eq!(refused.status, 400);
                let schema = &schema_of(refusal);
                assert_valid(&document, schema, &refused.json(), &what);
            }
        }
    }
    assert_eq!(refused_operations, 3);
    for method in ["GET", "POST", "PUT", "DELETE"] {
        for path in paths.keys() {
            let is_documented = paths[path].get(method.to_lowercase()).is_some();
            if !is_documented {
                let response = send(server.address, method, path, &[], "").await;
                assert_eq!(response.status, 405, "{method} {path}");
            }
        }
    }
}

fn schema_of(response: &Value) -> Value {
    response["content"]["application/json"]["schema"].clone()
}

#[tokio::test]
async fn compact_responses_of_every_outcome_obey_the_schema() {
    let server = serve(|builder| builder).await;
    let document = get(&server, "/openapi.json").await.json();
    let schema = json!({"$ref": "#/components/schemas/CompactResponse"});
    let mut broken = journey();
    broken["messages"][2]["role"] = json!("tool");
    let mut warned = journey();
    warned["messages"][0]["content"] = json!([]);
    let violation = &document["components"]["schemas"]["CompactResponse.Violation"];
    assert!(
        violation["properties"]["severity"].is_object(),
        "{violation}"
    );
    for asked in [
        json!({"conversation": journey(), "budget": 300}),
        json!({"conversation": journey(), "budget": 1}),
        json!({"conversation": journey(), "budget": 100_000}),
        json!({"conversation": warned, "budget": 300}),
        json!({"conversation": broken, "repair": true}),
    ] {
        let response = post(&server, "/v1/compact", &asked.to_string()).await;
        assert_eq!(response.status, 200, "{response:?}");
        assert_valid(&document, &schema, &response.json(), "compact");
        let request = json!({"$ref": "#/components/schemas/CompactRequest"});
        assert_valid(&document, &request, &asked, "the request");
    }
}
