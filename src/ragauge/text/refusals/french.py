"""Refusals in French; accents are folded away."""

from __future__ import annotations

from ragauge.text.refusals.rules import Sheet

_WORDS = {
    "ne": "ne |n'|n ",
    "pas": "pas|nulle part|aucun|aucune|rien|guere|ni|nullement|aucunement|jamais|plus|que peu|peu",
    "given": "fournis|fournie?s?|donnee?s?|disponibles?|ci-dessus|cites|citees|presentes?"
    "|presentees"
    "|recuperes|trouves|mentionnes|transmise?s?|pertinents|joints|limitees|actuels?|communiques?"
    "|a ma disposition|en ma possession|dont je dispose|consultes|proposes",
    "page": "documents?|documentation|contexte|passages?|textes?|extraits?|sources?|articles?"
    "|paragraphes?|resultats de recherche|base de connaissances|documents sources",
    "paper": "informations?|donnees|elements|contenus?|materiel|rapports?|fichiers?|pages?|contrat"
    "|dossier|renseignements",
    "the": "le|la|les|l'|ce|cet|cette|ces|du|des|de l'|d'|vos|votre|mes|nos|aucun des|aucune des|au"
    "|aux|dans le|un|de la|notre|mon|tous les",
    "documents": "{the} ?(?:[\\w'-]{1,20} )?(?:{page})(?: \\d+)?(?: (?:{given})"
    "| qui m'ont ete fournis"
    "| que vous avez fournis| a ma disposition)?|{the} ?(?:{paper}) (?:qui sont |qui m'ont ete "
    "|que vous"
    " avez |qui ont ete )?(?:{given})|passage \\d+|document \\d+|contexte(?: {given})?",
    "tells": "contient|contiennent|mentionne|mentionnent|precise|precisent|dit|disent|indique"
    "|indiquent|donne|donnent|fournit|fournissent|decrit|decrivent|specifie|specifient|repond"
    "|repondent|traite|traitent|aborde|abordent|explique|expliquent|evoque|evoquent|parle|parlent"
    "|permet|permettent|comporte|comportent|inclut|incluent|fait|font|offre|offrent|presente"
    "|presentent|revele|revelent|enonce|detaille|detaillent|apporte|apportent|renseigne|renseignent"
    "|figure|figurent|cite|citent|suffit|suffisent|montre|montrent|clarifie|definit|nomme"
    "|propose|livre|couvre|couvrent|concerne|concernent|possede|dispose|disposent|s'exprime",
    "told": "mentionnee?s?|precisee?s?|dite?s?|indiquee?s?|donnee?s?|fournie?s?|decrite?s?"
    "|specifiee?s?"
    "|traitee?s?|abordee?s?|expliquee?s?|evoquee?s?|trouvee?s?|connue?s?|claire?s?|disponibles?"
    "|presente?s?|incluse?s?|contenue?s?|determinee?s?|repondu|detaillee?s?|citee?s?|revelee?s?"
    "|clair"
    "|etablie?s?|deduite?s?|communiquee?s?|documentee?s?|enoncee?s?|definie?s?|stipulee?s?"
    "|couverte?s?",
    "info": "informations?|renseignements?|precisions?|details?|donnees?|reponses?|mentions?"
    "|indications?"
    "|elements?|explications?|connaissances?|contexte|references?|trace",
    "do_it": "repondre|dire|trouver|donner|determiner|etablir|fournir|confirmer|preciser|savoir"
    "|aider"
    "|deduire|indiquer|identifier|conclure|verifier|affirmer|localiser|acceder|apporter|infirmer"
    "|calculer|expliquer|me prononcer|renseigner|recommander|conseiller|faire|juger|estimer"
    "|formuler"
    "|connaitre|extraire|tirer|proposer|communiquer|decrire|evaluer|garantir|traiter|comparer"
    "|citer",
    "from": "dans|par|d'apres|selon|a partir|sur la base|au sein|de|en se basant sur|sur base|avec"
    "|grace a|compte tenu|a l'aide|au vu|sur|en fonction|au regard|en l'etat|a la lecture|parmi",
    "i": "je|nous|on",
}

SHEET = Sheet(
    words=_WORDS,
    cues="_ne_|_n'|aucun|pas_|inconn|insuffisan|indetermin|impossible_d|s/o|sans_reponse"
    "|j'ignore|l'ignore|manqu|indispon",
    whole=[
        "inconnue?s?|indeterminee?s?|s/o|sans objet|non (?:{told}|applicable|determinable)"
        "|sans reponse",
        "aucune? (?:reponse|information|donnee|idee|resultat|mention|precision|renseignement)"
        "(?: trouvee?| disponible| fournie| possible| pertinente?)*",
        "pas (?:de reponse|d'information|d'informations|de donnees|mentionne|precise|disponible"
        "|assez"
        " d'informations|dans {documents}|de resultat)(?: disponibles?| suffisantes?)?",
        "(?:informations? |donnees )?(?:insuffisantes?|manquantes?|indisponibles?)|je l'ignore"
        "|je (?:ne )?sais pas|aucune idee|impossible (?:de|a) (?:{do_it})",
    ],
    needs={
        "the documents do not tell": "document|contexte|passage|texte|extrait|source|article"
        "|paragraphe|resultat|base|information|donnee|element|contenu|materiel|rapport|fichier"
        "|page|contrat|dossier|renseignement",
        "no information": "information|renseignement|precision|detail|donnee|reponse|mention"
        "|indication|element|explication|connaissance|contexte|reference|trace",
        "says that it does not know": "_je_|_j'|_nous_|_on_|_me_|mes_|j'",
        "says that it cannot answer": "peu|pui|pouv|pour|saur|possib|capable|reponse|question"
        "|permet|parvien|arrive|mesure|pu_",
        "something is not told": "mention|precis|indiq|specif|fourni|disponib|evoqu|decri|cite"
        "|detail|expliq|rien|trouve",
        "something is not known": "connu|certain|flou|determin|clair|sait|difficile|ignore|etabli"
        "|peut|peuv",
    },
    refuses={
        "the documents do not tell": [
            "{documents}{g4} (?:{ne}) ?(?:[\\w'-]{1,12} )?(?:{tells}){g4} (?:{pas})",
            "{documents}{g4} (?:{ne}) ?(?:[\\w'-]{1,12} )?(?:{tells})(?: [\\w'-]{1,12})?"
            " ?(?:{pas})",
            "{documents}{g4} (?:{ne})(?:nous |me |m'|y |en )?(?:{tells}) (?:{pas})",
            "{documents}{g4} (?:{tells}) (?:pas|aucune?|rien)",
            "(?:aucune? (?:des|de ces|de ses)|aucun|ni|rien dans|nulle part dans) {documents}"
            "|aucune? (?:des|de ces) (?:{page})",
            "(?:{pas}|non){g7} (?:{told}|figurer|apparaitre"
            "|figure){g4} (?:{from})(?: de)? ?{documents}",
            "(?:{ne})(?:[\\w'-]{1,12} ){0,2}?(?:est|sont|figure|figurent|apparait|apparaissent|se"
            " trouve|se trouvent|ressort|a|ont|permet|permettent"
            "|trouve){g1} (?:{pas}){g6} (?:{from})"
            "(?: de)? ?{documents}",
            "(?:aucune?|pas d'|pas de|sans"
            "|peu d')(?: )?(?:{info}){g8} (?:{from})(?: de)? ?{documents}",
            "{documents}{g4} (?:manque|manquent|omet|omettent|reste|restent|est"
            "|sont) (?:de precision"
            "|muets?|silencieux|muette|insuffisante?s?|d'information|de preciser|vagues?)",
            "{documents}{g14} (?:ils?|elles?|celui-ci|ceux-ci|cela) (?:{ne}) ?(?:{tells}){g2}"
            " (?:{pas})",
            "(?:impossible|difficile|absente?s?|manquantes?|indisponible|inconnue?s?|incertain){g6}"
            " (?:{from})(?: de)? ?{documents}",
            "hors (?:du cadre|du champ|de la portee) (?:de |du |des )?{documents}",
        ],
        "no information": [
            "il (?:n'y a|n'existe|n'y avait|y a){g1} (?:{pas}"
            "|insuffisamment)(?: [\\w'-]{1,15}){0,3}"
            " (?:d'|de )?(?:{info})",
            "(?:{ne})(?:y )?(?:a|existe|dispose|disposons|est|sont"
            "|possede) (?:{pas})(?: [\\w'-]{1,15})"
            "{0,2} (?:d'|de )?(?:{info})",
            "aucune? (?:[\\w'-]{1,20} )?(?:{info}){g6} (?:{ne})",
            "aucune? (?:[\\w'-]{1,20} )?(?:{info}) (?:sur|concernant|a ce sujet|relative|n'|ne"
            "|quant"
            "|n'est|disponible|a propos|permettant|dans|de|n'a)",
            "(?:pas|trop peu|insuffisamment|manque|absence|faute) (?:assez |suffisamment )?(?:d'"
            "|de )"
            "(?:{info})",
            "pas (?:assez|suffisamment|d'assez|de) (?:de |d')?(?:{info})",
            "(?:{info}){g4} (?:{ne})(?:(?:est|sont|a|ont) (?:pas|ni)(?: ete)?{g1} (?:{told})"
            "|(?:figure|figurent|se trouve|se trouvent) pas)",
            "(?:{info}) (?:est|sont)? ?(?:insuffisante?s?|indisponibles?|manquante?s?|absente?s?)",
        ],
        "says that it does not know": [
            "(?:je|nous) (?:{ne})?(?:le |l'|la )?(?:sais|savons|connais|connaissons) (?:{pas})"
            "|j'ignore"
            "|je l'ignore|nous ignorons",
            "(?:je |nous |j')(?:{ne})?(?:y )?(?:dispose|disposons|ai|avons|possede|trouve|vois"
            "|trouvons"
            "|detiens|ai pas|avais) (?:{pas})",
            "(?:je n'ai|nous n'avons|je n'en ai) (?:{pas})|je (?:n'ai|ne) (?:pas )?(?:trouve|pu"
            "|reussi)",
            "je (?:{ne})suis pas (?:sure?|certaine?|au courant|en mesure|capable|informee?"
            "|en position)",
            "nous (?:{ne})sommes pas (?:surs|certains|en mesure|capables)",
            "(?:je suis|nous sommes) (?:[\\w'-]{1,20} )?(?:incapable|dans l'impossibilite|dans"
            " l'incapacite)",
            "(?:depasse|hors de|au-dela de) mes (?:connaissances|competences)|il me manque",
        ],
        "says that it cannot answer": [
            "{i} (?:{ne})?(?:vous |te |le |l'|y |me |en )?(?:peux|peut|pouvons|puis|saurais"
            "|pourrais|pourrai|pouvais|parviens|arrive|saurait|pourrait|pu)(?: pas| donc pas| ni"
            "| rien| malheureusement pas| helas pas| aucunement){1,2}{g4} (?:{do_it})",
            "(?:question|reponse|cela|ceci|cette information|elle|il|ce point){g6} (?:{ne})(?:peut"
            "|peuvent|saurait|pouvait)(?: pas| donc pas| etre| malheureusement pas){1,3}{g2}"
            " (?:{told}|trouvee?|resolue?|apportee?)",
            "(?:{ne})(?:peut|peuvent|saurait) (?:pas "
            "|donc pas )?(?:etre )?{g2} (?:{told}){g6} (?:{from})"
            "(?: de)? ?{documents}",
            "il (?:[\\w'-]{1,10} )?(?:n'est|est|m'est|n'a|ne m'est) (?:pas possible|impossible"
            "|malheureusement"
            " impossible)(?: ,)? (?:de|d'){g3} ?(?:{do_it})",
            "(?:m'est|il est|c'est) impossible (?:de|d')|impossible (?:de|d') ?(?:{do_it})"
            "|dans l'impossibilite de|incapable de {do_it}|pas en mesure de",
            "question{g4} (?:reste|demeure|est) (?:sans reponse|insoluble)|pas de reponse a",
            "{ne}permet(?:tent)? pas (?:de|d') ?{g2} ?(?:{do_it})",
        ],
    },
    may_refuse={
        "something is not told": [
            "rien (?:n'|ne ){g3}|(?:{ne})(?:est|sont|y a)(?: [\\w'-]{1,12})? rien|on ne trouve",
            "(?:{ne})(?:est|sont|etait|etaient|a"
            "|ont){g1} pas (?:ete )?(?:[\\w'-]{1,20} )?(?:mentionnee?s?"
            "|precisee?s?|indiquee?s?|specifiee?s?|fournie?s?|disponibles?|evoquee?s?|decrite?s?"
            "|citee?s?"
            "|detaillee?s?|expliquee?s?)",
            "non (?:precisee?s?|mentionnee?s?|specifiee?s?|indiquee?s?)",
            "(?:{ne})(?:precise|mentionne|indique|specifie)(?:nt)? (?:{pas})",
        ],
        "something is not known": [
            "(?:est|sont|reste|restent|demeure|demeurent|etait) (?:[\\w'-]{1,15} )?(?:inconnue?s?"
            "|incertaine?s?"
            "|floue?s?|indeterminee?s?)",
            "(?:{ne})(?:est|sont|etait) pas (?:[\\w'-]{1,15} )?(?:connue?s?|claire?s?|certaine?s?"
            "|clair)",
            "personne ne sait|difficile (?:a|de) (?:dire|determiner|savoir)|on ne sait pas"
            "|on ignore",
            "(?:{ne})(?:peut|peuvent|a pu|ont pu) (?:pas )?(?:etre )?(?:determinee?s?|etablie?s?)",
        ],
    },
    about_documents=[
        "(?:{page}|{paper})",
        "(?:mentionne|mentionnent|contient|contiennent|precise|stipule|indique|prevoit)",
    ],
    preface=["(?:{from})(?: de)? ?{documents}"],
    lead=[
        "cependant|mais|toutefois|donc|malheureusement|helas|ainsi|par consequent|en outre|de plus"
        "|or"
        "|neanmoins|en revanche|reponse|conclusion|en resume|remarque|pourtant|desole|desolee|et"
        "|bonjour"
        "|en effet|pour l'instant|note|affirmation|bref|en conclusion|a ce jour",
    ],
    aside=[
        "(?:je suis |nous sommes )?(?:vraiment |sincerement |tres )?desolee?s?|(?:je |nous "
        "|toutes mes"
        " |mes |veuillez )(?:vous |m')?(?:prie|presente|excuse|excuser|excuses|regrette|regrettons)"
        "|excusez|pardon|veuillez",
        "(?:si|s'il|n'hesitez|merci|veuillez|je vous|je peux|je pourrais|je serais|je reste"
        "|j'espere"
        "|nous vous|je te|je recommande|je suggere|je conseille|il me faudrait|j'aurais besoin)",
        "(?:vous|tu) (?:pouvez|pourriez|devriez|peux|pourrais|devrez|trouverez|devez)",
        "(?:pouvez|pourriez|souhaitez|voulez|avez|desirez|puis)-(?:vous|je)|est-ce que vous"
        "|y a-t-il",
        "pour (?:plus|davantage|de plus|obtenir|en savoir|toute|des|cela|une|connaitre|savoir"
        "|cette)",
        "(?:consultez|contactez|verifiez|essayez|visitez|referez|voir|demandez|adressez|reportez)",
        "(?:davantage|plus|d'autres|des|de plus amples|un complement) (?:d'|de )?(?:informations?"
        "|precisions|sources|details|contexte|elements|documents|recherches)",
        "il (?:serait|est|faudrait|vaudrait|convient|vaut)(?: [\\w'-]{1,15})? (?:conseille"
        "|preferable"
        "|recommande|utile|mieux|judicieux|necessaire|de|consulter|plus)",
        "(?:bien que|alors que|si|meme si|quoique|tandis que)? ?{documents}{g3} (?:seulement"
        "|uniquement"
        "|principalement)? ?(?:traite|traitent|aborde|abordent|porte|portent|parle|parlent|decrit"
        "|decrivent|concerne|concernent|evoque|evoquent|mentionne|mentionnent|se concentre"
        "|se concentrent"
        "|se limite|se limitent|discute|discutent|se rapporte|se rapportent|presente"
        "|presentent)(?! que)",
        "(?:bien que|alors que)? ?{documents}{g2} (?:contient|contiennent|donne|donnent|fournit"
        "|fournissent|offre|offrent)(?: seulement| uniquement| bien| certes)? (?:des|quelques|une"
        "|de)"
        " (?:informations?|details|renseignements|elements|vue d'ensemble|donnees)",
        "(?:ils?|elles?|ceux-ci|celui-ci) (?:se )?(?:ne )?(?:traite|traitent|aborde|abordent|porte"
        "|portent"
        "|parle|parlent|concentre|concentrent|limite|limitent|evoque|evoquent|decrit|decrivent"
        "|concerne|concernent|mentionne|mentionnent)(?! que)",
        "(?:la|cette|votre|ta) question (?:est|porte|demande|concerne|semble)",
        "(?:{from})(?: de)? ?{documents}$|{documents}$",
        "(?:sources?|citations?|question|references?|explication)(?:$| ?:)",
    ],
    contrast=[
        "mais|cependant|toutefois|bien que|neanmoins|pourtant|en revanche|meme si|quoique|or"
    ],
    concession=["bien que|alors que|meme si|quoique|malgre|tandis que|si|hormis|outre|certes"],
    yes_or_no=["oui|non|exact|si|en effet"],
    asks_back=[
        "(?:voulez|parlez|faites|pensez|demandez|cherchez|souhaitez|referez)-vous|(?:veux|parles"
        "|penses"
        "|fais|demandes|cherches)-tu",
        "(?:quel|quelle|quels|quelles|que|qui|ou|laquelle|lequel){g6} (?:parlez|voulez|vous referez"
        "|cherchez|souhaitez|pensez|faites|parles|referez)",
        "(?:pouvez|pourriez|peux|pourrais)-(?:vous|tu){g6} (?:preciser|clarifier|specifier|indiquer"
        "|reformuler|m'en dire plus|donner plus|detailler|fournir plus|expliquer)",
        "(?:veuillez|merci de) (?:preciser|clarifier|indiquer|specifier|reformuler|donner plus"
        "|fournir"
        " plus)|s'agit-il|(?:lequel|laquelle|lesquels) (?:voulez|parlez|vous)|precisez",
    ],
    several=[
        "il (?:y a|existe) (?:plusieurs|de nombreu(?:x|ses)|differents|differentes|quelques|deux"
        "|trois|beaucoup)",
        "par exemple",
    ],
)
