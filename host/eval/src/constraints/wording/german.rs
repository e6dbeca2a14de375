//! Constraints in German.

use super::{Sentences, Wording};

pub(super) const WORDING: Wording = Wording {
    language: "de",
    sentences: [
        // action
        Sentences {
            plain: [
                "Lass den Ordner {name} so, wie er ist, den räume ich selbst auf.",
                "Arbeite für all das auf dem Branch {name}.",
                "Neue Pakete sind für {name} tabu, nimm, was da ist.",
            ],
            absolute: [
                "Pushe niemals nach {name}, ohne mich zu fragen.",
                "Lösche auf keinen Fall etwas unterhalb von {name}.",
                "Starte den Server nie neu, solange {name} läuft.",
            ],
        },
        // information
        Sentences {
            plain: [
                "Halte die Preise von {name} aus allem heraus, was Kunden sehen.",
                "Das Passwort von {name} hat Ines, lass es aus den Dateien heraus.",
                "Nimm die Zahlen aus dem Bericht {name}, die anderen sind veraltet.",
            ],
            absolute: [
                "Erwähne {name} nie in etwas, das Kunden lesen können.",
                "Verwende nur die Zahlen, die {name} veröffentlicht hat.",
                "Die Adresse von Frau Okafor muss aus jedem Protokoll herausbleiben.",
            ],
        },
        // process
        Sentences {
            plain: [
                "Lass vor jedem Commit die Tests von {name} laufen.",
                "Zeig mir zuerst einen Plan und fang an, sobald ich zugestimmt habe.",
                "Eine Änderung nach der anderen, mit einem Commit für jede.",
            ],
            absolute: [
                "Lass immer die Tests von {name} laufen, bevor du committest.",
                "Fang niemals mit dem nächsten Schritt an, bevor ich zugestimmt habe.",
                "Wenn {name} eine andere Version braucht, muss ich das vorher wissen.",
            ],
        },
        // preference
        Sentences {
            plain: [
                "Kurze Namen von Funktionen mag ich lieber als lange.",
                "Für {name} hätte ich lieber zwei kleine Dateien als eine große.",
                "Einfache Schleifen lese ich leichter als Ketten von Aufrufen.",
            ],
            absolute: [
                "Abkürzungen in Namen will ich nie sehen.",
                "In {name} ziehe ich Funktionen immer den Klassen vor.",
                "Bitte nimm in {name} nur Tabs, das bin ich gewohnt.",
            ],
        },
        // output
        Sentences {
            plain: [
                "Antworte mir in höchstens drei Sätzen.",
                "Schreib die Zusammenfassung als Tabelle mit den Spalten {name} und Stand.",
                "Leg das Ergebnis in der Datei {name}.md ab, auf Deutsch.",
            ],
            absolute: [
                "Setze niemals Emojis in deine Antworten.",
                "Jede Antwort muss mit der Zeile {name} enden.",
                "Gib Beträge immer in Euro an, mit zwei Nachkommastellen.",
            ],
        },
    ],
};
