"""Refusals in Spanish; accents are folded away, ñ to n."""

from __future__ import annotations

from ragauge.text.refusals.rules import Sheet

_WORDS = {
    "the": "el|la|los|las|este|esta|estos|estas|esos|esas|su|sus|tu|tus|mis|ambos|dicho|dichos"
    "|ningun|ninguno de los|ninguna de las",
    "given": "proporcionad[oa]s?|dad[oa]s?|facilitad[oa]s?|disponibles?|suministrad[oa]s?"
    "|recuperad[oa]s?|aportad[oa]s?|anterior(?:es)?|adjunt[oa]s?|citad[oa]s?|consultad[oa]s?"
    "|entregad[oa]s?|ofrecid[oa]s?|relevantes?|presentad[oa]s?|existentes?|encontrad[oa]s?|fuente"
    "|que (?:tengo|tenemos|me (?:has|ha|han) (?:dado|proporcionado|facilitado)|se me (?:ha|han)"
    " (?:dado|proporcionado|facilitado)|(?:has|ha|han) (?:dado|proporcionado|facilitado)"
    "|se proporciona|se proporcionan)",
    "page": "documentos?|documentacion|textos?|contextos?|pasajes?|fragmentos?|fuentes?|articulos?"
    "|extractos?|parrafos?|resultados(?: de (?:la )?busqueda)?|base de conocimientos?|corpus"
    "|material(?:es)?|manual|contrato",
    "paper": "informacion|datos|contenidos?|registros?|paginas?|archivos?|informes?|conversacion",
    "documents": "{the} (?:{given} )?(?:{page})(?: {given})?|(?:{page}) {given}|contexto"
    "|documentos? \\d+|pasajes? \\d+|(?:{the} )?(?:{paper}) {given}|lo (?:proporcionado"
    "|facilitado)",
    "from": "en|de|del|a partir de|segun|con|desde|basandome en|sobre la base de|dentro de|por",
    "in_documents": "{from} {documents}|(?:en|del|al) (?:{given} )?(?:{page})(?: {given})?",
    "adverb": r"(?:\s+(?:\w{1,16}mente|se|lo|la|los|las|me|nos|le|les|aun|todavia|tampoco|ha|han"
    r"|sido)){0,3}",
    "tells": "mencionan?|contienen?|incluyen?|especifican?|indican?|proporcionan?|dicen?|explican?"
    "|describen?|abordan?|ofrecen?|dan?|responden?|detallan?|aparecen?|figuran?|hablan?|tratan?"
    "|hacen? (?:mencion|referencia)|cubren?|aclaran?|permiten?|revelan?|precisan?|senalan?|tienen?"
    "|hay|informan?|recogen?|citan?|nombran?|definen?|muestran?|facilitan?|aportan?|constan?"
    "|es suficiente|son suficientes|bastan?|contestan?|encuentran?|hallan?|estan?|vienen?|sirven?"
    "|es relevante|son relevantes|esta relacionad[oa]|estan relacionad[oa]s",
    "told": "mencionad[oa]s?|especificad[oa]s?|indicad[oa]s?|proporcionad[oa]s?|incluid[oa]s?"
    "|descrit[oa]s?|disponibles?|clar[oa]s?|detallad[oa]s?|encontrad[oa]s?|facilitad[oa]s?"
    "|dich[oa]s?|explicad[oa]s?|presentes?|recogid[oa]s?|documentad[oa]s?|citad[oa]s?",
    "info": "informacion|datos|detalles?|respuestas?|mencion|referencias?|evidencias?|constancia"
    "|indicios|contexto|conocimientos?|documentacion|elementos|nada",
    "cannot": "no (?:(?:se )?(?:puedo|puede|pueden|podemos|podria|pude|pudo|logro|logre)|es posible"
    "|ha sido posible|fue posible|me es posible|nos es posible|soy capaz de|estoy en condiciones"
    " de|consigo|he podido|hemos podido|se ha podido)|(?:es |resulta )?imposible|incapaz de",
    "do_it": "(?:responder|contestar|proporcionar|determinar|encontrar|decir|dar|ofrecer|ayudar"
    "|confirmar|saber|indicar|precisar|identificar|facilitar|especificar|verificar|establecer"
    "|deducir|inferir|concluir|acceder|brindar|localizar|afirmar|averiguar|extraer|asistir|hacer"
    "|ser respondida|ser contestada)(?:te|le|les|se|lo|la|los|las|os|nos|me|telo|selo)?",
}

SHEET = Sheet(
    words=_WORDS,
    cues="no_|_ningun|_nada|desconoc|desconoz|_ignoro|insuficien|imposible|incapaz|_falta|_sin_"
    "|caren|carec|_n/d|por_favor|ni_idea|fuera_del",
    whole=[
        r"desconocid[oa]|no disponible|sin (?:respuesta|informacion|datos)|no consta|n/d|n\. ?d",
        "no (?:lo )?(?:se|sabemos|sabria)(?: decir| decirte| decirle)?|ni idea|no tengo ni idea",
        "(?:no )(?:se )?(?:mencionado|especificado|menciona|especifica|sabe|indica|aplica"
        "|procede|proporcionado|encontrado)",
        "(?:la respuesta )?no (?:esta |aparece |figura )?(?:en) {documents}",
        "no hay (?:respuesta|informacion|datos|resultados)(?: disponibles?)?|respuesta desconocida",
        "(?:informacion|datos) (?:insuficientes?|no disponibles?)|fuera de(?:l)? (?:alcance"
        "|ambito)",
    ],
    needs={
        "the documents do not tell": "document|text|contexto|pasaje|fragmento|fuente|articulo"
        "|extracto|parrafo|resultado|conocimiento|corpus|material|manual|contrato|informacion"
        "|datos|contenido|registro|pagina|archivo|informe|conversacion|facilitado|proporcionado",
        "no information": "informacion|datos|detalle|respuesta|mencion|referencia|evidencia"
        "|constancia|indicio|contexto|conocimiento|documentacion|elemento|nada",
        "says that it does not know": "_se_|sabe|sabr|idea|conozco|conoz|segur|tengo|tenemos"
        "|dispon|cuento|contamos|ignor|poseo|encontr|encuentr|_se.|_se,",
        "says that it cannot answer": "pued|podemos|podria|pude|pudo|posible|imposible|capaz|logr"
        "|consigo|podido|pregunta|consulta|condiciones",
        "something is not told": "mencion|especific|indica|dice|detalla|aclara|proporcion|precis",
        "something is not known": "sabe|conoc|clar|segur|descono|dificil|nadie|determin",
    },
    refuses={
        "the documents do not tell": [
            "{documents}{w8},? (?:no|tampoco|nunca){adverb} (?:{tells})",
            "{documents}{g14} (?:pero|aunque|y) no{adverb} (?:{tells})",
            "{documents}{w6} (?:carecen?|omiten?|guardan? silencio|son insuficientes"
            "|es insuficiente)",
            "(?:no|nunca|tampoco){adverb} (?:{tells}|{told}){g6} {in_documents}",
            "(?:no|nunca) (?:esta|estan|fue|fueron|ha sido|viene|vienen){g2} (?:{told}){g4}"
            " {in_documents}",
            "{in_documents}{g6},? no{adverb} (?:{tells}|consta|existe|existen|encuentro|veo)",
            "(?:ninguno|ninguna|nada)(?: de)? {in_documents}",
            "(?:{cannot}){g2} {do_it}{g8} {in_documents}",
            "fuera del (?:alcance|ambito) de {documents}",
        ],
        "no information": [
            "no (?:hay|existen?|constan?|encuentro|encontre|tengo|tenemos|dispongo|disponemos"
            "|cuento"
            "|contamos|poseo|veo|se (?:disponen?|tienen?|cuenta|encontro|encontraron|encuentran?"
            "|proporcionan?|facilitan?|ofrecen?|dan?|ha encontrado|han encontrado)|(?:he|hemos)"
            " encontrado|me consta|aparecen?)(?: de| con)?(?: [\\w'-]{1,16}){0,3}? (?:{info})",
            "(?:informacion|datos|contexto|evidencia){w3} (?:es |son )?insuficientes?",
            "(?:insuficiente|faltan?|falta de|sin suficiente) (?:la |los |mas )?(?:informacion"
            "|datos|contexto)",
            "(?:esa|esta|la|dicha|tal|los|esos|las|ese|ese tipo de)(?: [\\w'-]{1,16})?"
            " (?:informacion|respuesta|datos|detalles|dato){g6} no (?:esta|estan|se encuentra"
            "|se encuentran|aparecen?|figuran?|se mencionan?|se proporcionan?|se especifican?"
            "|constan?|se facilitan?|es conocid[oa])",
        ],
        "says that it does not know": [
            "no lo (?:se|sabemos)|no se (?:la respuesta|cuando|quien|donde|que|cual|cuanto|cuantos"
            "|como|si|con certeza|nada)|no sabria (?:decir|responder|contestar)\\w*"
            "|no tengo (?:ni )?(?:idea|constancia|conocimiento|acceso|claro)",
            "no (?:conozco|conocemos)|desconozco|desconocemos|ignoro (?:la|el|si|cuando|quien|que)"
            "|no estoy segur[oa]",
            "no (?:tengo|tenemos|dispongo de|disponemos de|cuento con|contamos con|poseo)"
            " (?:esa|esta|ese|este|la|el|los|las|esos|suficientes?|mas|acceso|ninguna?|datos)",
            "no (?:encuentro|encontre|encontramos|he encontrado|hemos encontrado) (?:esa|esta|la|el"
            "|ninguna?|nada|eso|informacion|datos)",
        ],
        "says that it cannot answer": [
            "(?:{cannot}){g3} {do_it}",
            "(?:pregunta|consulta){g4} no (?:puede|se puede|tiene respuesta|es posible)",
            "no (?:entiendo|entendi|comprendo|he entendido) (?:bien )?(?:la|tu|su|esta) (?:pregunta"
            "|consulta)",
            "no (?:puedo|podemos) (?:ayudarte|ayudarle|ayudar|hacerlo|hacer eso)",
        ],
    },
    may_refuse={
        "something is not told": [
            "no se (?:mencionan?|especifican?|indican?|dice|detallan?|aclaran?|proporcionan?"
            "|precisan?)|no (?:esta|estan|fue|ha sido) (?:especificad|mencionad|indicad|precisad)"
            "[oa]s?|sin (?:especificar|precisar|mencionar)",
            "no (?:mencionan?|especifican?|precisan?)",
        ],
        "something is not known": [
            "se desconoce|es desconocid[oa]|no se (?:sabe|conoce)|no (?:esta|queda) claro"
            "|nadie (?:lo )?sabe|(?:es )?dificil (?:de )?(?:decir|saber|determinar)",
        ],
    },
    about_documents=[
        "(?:{page}|{paper})",
        "(?:menciona|mencionan|contiene|contienen|especifica|estipula|indica|dice)",
    ],
    preface=["(?:segun|en|de acuerdo con|basandome en|a partir de|con) {documents}"],
    lead=[
        "sin embargo|pero|no obstante|por lo tanto|por tanto|por ello|asi que|ademas"
        "|lamentablemente"
        "|desafortunadamente|desgraciadamente|por desgracia|respuesta|en resumen|en conclusion|y"
        "|entonces|perdon|disculpa|disculpe|lo siento|hola|nota|bueno|pues",
    ],
    aside=[
        "(?:lo )?(?:siento|lamento|sentimos|lamentamos)|(?:le |te )?pido (?:disculpas|perdon)"
        "|disculp\\w{1,6}|perdon\\w{0,6}|mis disculpas",
        "(?:si|por favor|gracias|espero|no dude|no dudes|quedo)",
        "(?:puede|puedes|podria|podrias|le|te) (?:recomiendo|sugiero|aconsejo|consultar|contactar"
        "|revisar|visitar|verificar|buscar|intentar|probar|encontrar|proporcionar|preguntar|ver)",
        "(?:recomiendo|sugiero|aconsejo|consulte|consulta|contacte|contacta|visite|visita|verifique"
        "|revise|intente|seria (?:necesario|recomendable|mejor)|es recomendable|se recomienda)",
        "(?:puedo|podria|estare encantad[oa]|con gusto)",
        "(?:hay algo|desea|deseas|necesita|necesitas|quiere|quieres|le gustaria|te gustaria)",
        "para (?:mas|obtener|responder|conocer|saber|una|esta|esa|poder)",
        "(?:aunque |si bien )?{documents}{g3} (?:solo |unicamente |principalmente )?(?:tratan?"
        "|hablan?|se centran?|abordan?|describen?|mencionan?|se refieren?|discuten?|versan?)"
        "(?! que)",
        "(?:aunque |si bien )?{documents}{g2} (?:solo |unicamente )?(?:contienen?|ofrecen?|dan?"
        "|proporcionan?|incluyen?) (?:solo )?(?:informacion|detalles|datos)",
        "(?:ell[oa]s|estos|estas) (?:solo |unicamente )?(?:tratan|hablan|se centran|abordan)",
        "(?:la|esta|su|tu) (?:pregunta|consulta) (?:es|se refiere|parece|trata|resulta)",
        "(?:{from}) {documents}$|{documents}$",
        "como (?:modelo de lenguaje|asistente|(?:una )?ia|inteligencia)",
        "(?:fuentes?|citas?|referencias?|pregunta|nota)(?:$| ?:)",
    ],
    contrast=["pero|sin embargo|no obstante|aunque|si bien|sino que|con todo"],
    concession=["aunque|si bien|a pesar de|pese a|mientras que|ademas de|aparte de"],
    yes_or_no=["si|no|correcto|exacto|cierto|falso|efectivamente"],
    asks_back=[
        "(?:podria|podrias|puede|puedes|podeis|pueden|podrian)(?: por favor)?(?: me)?"
        " (?:aclarar|especificar|precisar|indicar|decir|concretar|explicar|dar|proporcionar"
        "|confirmar|reformular|facilitar|ser mas (?:especific|concret|clar|precis))\\w*",
        "(?:que|cual|cuales|quien|cuyo){g4} (?:se refiere|te refieres|se refieren|habla|hablas"
        "|pregunta|preguntas|quiere|quieres|desea|deseas|busca|buscas|le interesa|te interesa"
        "|tiene en mente|tienes en mente)",
        "(?:se refiere|te refieres|se refieren|quiere decir|quieres decir) (?:a|al|con)",
        "que (?:quiere|quieres) decir",
        "por favor,? (?:aclar|especifi|indi|preci|concret|proporcion|reformul)\\w{1,6}",
    ],
    several=[
        "hay (?:varios|varias|muchos|muchas|diferentes|distint[oa]s|algun[oa]s|dos|tres|mas de)"
        "|existen (?:varios|varias|muchos|muchas|diferentes|distint[oa]s)|por ejemplo"
        "|podria (?:estar )?refer"
    ],
)
