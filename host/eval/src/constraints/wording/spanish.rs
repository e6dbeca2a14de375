//! Constraints in Spanish.

use super::{Sentences, Wording};

pub(super) const WORDING: Wording = Wording {
    language: "es",
    sentences: [
        // action
        Sentences {
            plain: [
                "Deja la carpeta {name} como está, la ordeno yo.",
                "Trabaja en la rama {name} para todo esto.",
                "Instalar paquetes queda descartado para {name}, usa lo que hay.",
            ],
            absolute: [
                "Nunca hagas push a {name} sin preguntarme.",
                "No debes borrar nada dentro de {name}.",
                "Jamás reinicies el servidor mientras {name} esté en marcha.",
            ],
        },
        // information
        Sentences {
            plain: [
                "Deja los precios de {name} fuera de lo que ven los clientes.",
                "La contraseña de {name} la tiene Inés, déjala fuera de los archivos.",
                "Toma las cifras del informe {name}, las otras están anticuadas.",
            ],
            absolute: [
                "Nunca menciones {name} en algo que puedan leer los clientes.",
                "Usa solo las cifras que publicó {name}.",
                "La dirección de la señora Okafor siempre queda fuera de los registros.",
            ],
        },
        // process
        Sentences {
            plain: [
                "Ejecuta las pruebas de {name} antes de cada commit.",
                "Enséñame primero un plan y empieza cuando lo haya aceptado.",
                "Un cambio cada vez, con un commit para cada uno.",
            ],
            absolute: [
                "Ejecuta siempre las pruebas de {name} antes de hacer commit.",
                "Nunca empieces el siguiente paso antes de que yo lo acepte.",
                "Debes preguntarme antes si {name} necesita otra versión.",
            ],
        },
        // preference
        Sentences {
            plain: [
                "Me gustan más los nombres cortos de funciones que los largos.",
                "Para {name} prefiero dos archivos pequeños a uno grande.",
                "Los bucles sencillos los leo mejor que las cadenas de llamadas.",
            ],
            absolute: [
                "Nunca quiero ver abreviaturas en los nombres.",
                "En {name} siempre prefiero funciones a clases.",
                "En {name} usa solo tabuladores, estoy acostumbrado a eso.",
            ],
        },
        // output
        Sentences {
            plain: [
                "Respóndeme en tres frases o menos.",
                "Escribe el resumen como una tabla con las columnas {name} y estado.",
                "Guarda el resultado en el archivo {name}.md, en español.",
            ],
            absolute: [
                "Nunca pongas emojis en tus respuestas.",
                "Debes terminar cada respuesta con la línea {name}.",
                "Da siempre los importes en euros, con dos decimales.",
            ],
        },
    ],
};
