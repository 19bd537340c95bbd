"""Refusals in English."""

from __future__ import annotations

from ragauge.text.refusals.rules import Sheet

_WORDS = {
    "not": "not|isn't|aren't|wasn't|weren't|doesn't|don't|didn't",
    "does_not": "(?:do|does|did)(?: not|n't|nt)",
    "is_not": "(?:is|are|was|were|be|been|has been|have been|being)(?: not|n't)"
    "|(?:has|have)(?: not|n't) been",
    "am": "am|are|was|were|'m|'re|be",
    "cannot": "can ?not|can't|cant|could not|couldn't|{am} ?(?:not|currently not) able to"
    "|{am} ?(?:currently )?unable to|(?:will not|won't) be able to|aren't able to|wasn't able to",
    "adverb": r"(?:\s+(?:\w{1,15}ly|seem to|appear to|seems to|appears to|yet|even|also|itself"
    r"|themselves|in fact|at all|in detail|much|quite)){0,3}",
    "given": "provided|given|supplied|available|retrieved|above|attached|relevant|cited|shared"
    "|reference|referenced|accompanying|following|current|presented|listed|search|source|input"
    "|background|context|supporting|uploaded|existing|limited",
    "page": "documents?|documentation|docs|contexts?|passages?|texts?|excerpts?|snippets?|sources?"
    "|articles?|paragraphs?|extracts?|knowledge base|search results?|chunks?|references"
    "|provided materials?|source materials?|reference materials?|context documents?|faqs?|corpus",
    "paper": "data|information|info|content|evidence|records?|results?|files?|pages?|inputs?"
    "|materials?|reports?|contracts?|policy|policies|details|facts|conversation|websites?"
    "|sections?|sentences?|summary|summaries|knowledge|letters?|table|transcripts?|manual",
    "sheet": "documents?|documentation|contexts?|passages?|excerpts?|snippets?|knowledge base"
    "|search results?|chunks?|extracts?",
    "the": "the|these|this|those|your|our|my|that|both|each of the|either of the|any of the"
    "|any of these|all of the|all the",
    "documents": r"{the} (?:(?:{given}|\w{1,10}) ){0,1}(?:{given} )?(?:{sheet})(?: \[?\d+\]?)?"
    r"|(?:{the}|any) (?:{given} ){0,2}(?:{page})|(?:{given}) (?:{given} )?(?:{page})|passages?"
    r"(?: \[?\d+\]?)?|documents?(?: \[?\d+\]?)?|context"
    r"|(?:{the} )?(?:{given}) (?:[\w'-]{1,20} )?(?:{paper})"
    "|(?:the |any |this )?(?:{paper}) (?:that |which )?(?:was |were |is |are |has been |have been "
    "|i have |i was |i am |you have |you |we have )?(?:{given}|access to|have)"
    "|what (?:is|was|i have been|i was|you) (?:{given})",
    # The context menu and the text editor are no documents.
    "no_noun": "(?= ?[,(\\[]| (?:{does_not}|{is_not}|{cannot}|{treat}|{tells}(?:e?s)?|{given}"
    "|\\w{3,15}ly|never|nowhere|that|which|i|we|you|i've|you've|it|they|is|are|was|were|has|have"
    "|had|in|of|on|at|to|as|for|from|with|about|regarding|concerning|related|relating|below|here|alone|used|found"
    "|itself|themselves|and|or|but|so|also|still|only|just|all|both|seems?|appears?|however"
    "|lacks?|lacking|omits?|fail(?:s|ed)?|makes?)(?!\\w))",
    "they": "it|they|none of them|neither of them|both|nothing",
    "tells": "contain|mention|provide|specify|say|include|state|address|discuss|cover|indicate"
    "|give|offer|describe|explain|answer|have|detail|disclose|list|note|reveal|show|tell|clarify"
    "|identify|refer|make (?:it clear|clear|mention|any|explicit|reference|a)|go into|elaborate"
    "|name|touch|speak|supply|define|outline|present|hold|report|talk|deal|comment"
    "|respond|allow|enable|help|expand|shed|point|record|document|delve|cite|feature|quantify"
    "|determine|support (?:an|any) answer|relate|pertain|concern|carry|suffice",
    "told": "mentioned|specified|stated|provided|given|included|found|addressed|discussed|covered"
    "|described|explained|indicated|listed|available|disclosed|detailed|present|contained|clear"
    "|known|answered|answerable|part of|referenced|referred to|shown|supplied|explicit|outlined"
    "|noted|defined|identified|named|revealed|documented|recorded|elaborated|clarified|touched",
    "said": "mentioned|specified|stated|indicated|addressed|discussed|disclosed|referenced"
    "|elaborated|clarified",
    "info": "information|info|details?|mention|data|references?|answers?|knowledge|specifics"
    "|context|explanation|discussion|description|documentation|figures?|material",
    "trace": "evidence|indication|records?|sign|proof|confirmation|guidance|source|document"
    "|passage|text|content|statement|instructions?|list|section|definition|reason|example",
    "enough": "enough|sufficient|adequate",
    "work_out": "answered?|determined?|found|find|inferr?e?d?|establish(?:ed)?|derived?|deduced?"
    "|identif(?:y|ied)|conclude[d]?|ascertain(?:ed)?|confirm(?:ed)?|verif(?:y|ied)|known?"
    "|say|said|tell|told|provided?|state|stated|give|given|pinpoint(?:ed)?|specif(?:y|ied)"
    "|assess(?:ed)?|calculated?|addressed|answerable|gauge|discern(?:ed)?|compare|judge|resolved?"
    "|respond|made out|make",
    "do_it": "answer|provide|determine|find|tell|say|confirm|deny|give|help|assist|identify|verify"
    "|locate|access|do (?:that|this|so|it)|offer|comment|infer|conclude|speak|specify|state"
    "|respond|share|see|recommend|know|elaborate|explain|derive|deduce|recall|fulfill|comply"
    "|process|describe|discuss|advise|supply|establish|list|name|complete|address|make|look up"
    "|retrieve|calculate|compare|summari[sz]e|be (?:sure|certain|of)|really|definitively|accurately"
    "|pinpoint|point|compute|estimate|predict|guess|speculate|accurately|directly|reliably|at",
    "i": "i|we|this assistant|the assistant|this system",
    "from": "in|from|by|within|based (?:up)?on|according to|with|using|given|on the basis of|per"
    "|solely from|through|among|anywhere in|throughout|across|out of|under|on|as per|via",
    "only": "only|just|merely|solely|exclusively|mainly|primarily|mostly|simply",
    "treat": "(?:discuss|cover|address|describe|mention|talk|deal|treat|concern|focus"
    "|explain|detail)(?:e?s|ed)?|(?:is|are|was|were) about",
    "asked": "question|query|request|answer|inquiry|prompt",
    "sorry": "sorry|apologies|my apologies|apologi[sz]e|afraid|unfortunately|regrettably|regret",
}

SHEET = Sheet(
    words=_WORDS,
    cues="not|n't|no_|never|nowhere|unable|unknown|lack|insuffic|unclear|none|neither|n/a|imposs"
    "|fail"
    "|silent|unan|unspec|beyond_my|outside|missing|idk|dunno|dont_|cant_|sorry|please",
    whole=[
        r"n/a|n\.a|unknown|unanswerable|undetermined|indeterminate|unspecified|idk|dunno",
        "(?:it is |it's |that is |this is )?not (?:{told}|stated|applicable|sure|determinable"
        "|in scope|enough info)(?: here)?",
        "(?:the |an )?(?:answer|information|question|topic"
        "|response)?(?: is)? ?not (?:{from}) {documents}",
        "no (?:answer|data|info|information|result|results|idea|clue|mention|match|matches"
        "|response|relevant {info})(?: found| available| given| provided| possible)?",
        "can ?not (?:answer|say|tell|be (?:{work_out}))|can't (?:answer|say|tell)",
        "(?:answer |question )?(?:is )?(?:unknown|unavailable|unanswerable)",
        "(?:information|data|answer|details) (?:is |are )?(?:unavailable|missing|unknown)",
        "out of scope|insufficient|sorry",
    ],
    needs={
        "the documents do not tell": "document|docs|context|passage|text|excerpt|snippet|source"
        "|article|paragraph|extract|knowledge|result|chunk|reference|material|faq|corpus|data"
        "|info|content|evidence|record|file|page|input|report|contract|polic|detail|fact"
        "|conversation|website|section|sentence|summar|letter|table|transcript|manual|provided"
        "|given",
        "the documents, named before, do not tell": "_it_|_they_|_these_|_those_|_this_|_none_of",
        "no information": "info|detail|mention|data|reference|answer|knowledge|specifics|context"
        "|expla|discuss|descri|documentation|figure|material|evidence",
        "says that it does not know": "_i_|_i'|we_|we'|my_|assistant|this_system|beyond|outside"
        "|out_of",
        "says that it cannot answer": "can_|can't|cannot|could|able|possib|answer|question|quer"
        "|request",
        "something is not told": "mention|specif|stat|indicat|address|discuss|disclos|referenc"
        "|elaborat|clarif|provid|availab|given|includ|detail|descri|list|expla|document|record"
        "|found|known|nothing",
        "the documents tell of something else": "only|just|mere|sole|exclusiv|main|primar|most"
        "|simpl|focus",
        "something is not known": "know|clear|certain|determin|specified|disclosed|can|could|say"
        "|tell|answer|sure|evidence|indication|record|sign|proof|confirm|guidance|source|passage"
        "|text|content|instruct|section|defin|reason|example",
        "it is unable to": "able_to|_i_|we_|answer",
    },
    refuses={
        "the documents do not tell": [
            "{documents}{no_noun}{w8}(?:,? however,?)? (?:{does_not}|never|nowhere){adverb}"
            " {tells}(?:e?s)?",
            "{documents}{no_noun}{w5} (?:{cannot})(?: be used to)? {do_it}",
            "{documents}{no_noun}{g14} (?:it|they|these|those) {does_not}{adverb} {tells}",
            "{documents}{no_noun}{g3} (?:contains?|provides?|has|have|includes?|gives?|offers?"
            "|makes?|holds?|says?|mentions?|tells?) (?:no|nothing|insufficient|not enough|little)",
            "{documents}{no_noun}{g3} (?:lacks?|lacking|omits?|fails? to|failed to|is missing"
            "|are missing|is silent|are silent|is unclear|are unclear|is insufficient"
            "|are insufficient)",
            "{documents}{no_noun}{g3} {is_not}{adverb} (?:clear|enough|sufficient|specific|explicit"
            "|relevant|related|helpful|about|detailed|useful)",
            "(?:none|neither|nothing|nowhere)(?: of| in| from| within)? {documents}",
            "no(?:ne)? (?:{page}) (?:{tells}|contains|mentions|provides|states|says|answers"
            "|addresses|specifies|discusses)",
            "(?:{not}|nowhere|never)(?: appear| found| anywhere| explicitly| directly)?{g1}"
            " (?:in|within|from|part of|covered by|answered by) {documents}",
            "{not}{adverb} {told}{g6} {from} {documents}",
            "(?:no|without|any) (?:{info}|{trace}){g8} {from} {documents}",
            "(?:unclear|unknown|uncertain|impossible to{g3}|unable to{g3}|missing|absent"
            "|difficult to{g3}|hard to{g3}) {from} {documents}",
            "(?:beyond|outside)(?: of)? (?:the )?scope of {documents}",
        ],
        "the documents, named before, do not tell": [
            "(?:but|however|so|and|yet|because|since|as|that) (?:it|they|these|those|this"
            "|none of (?:them|these)) {does_not}{adverb} (?:{tells})(?! to)",
        ],
        "no information": [
            "there(?:'s| is| are| was| were| seems to be| appears to be) (?:currently )?"
            "(?:no|not any|not much|not enough|n't any|n't enough|insufficient|little|limited)"
            "{g3} {info}",
            "there (?:isn't|aren't|is not|are not|wasn't) {g2}(?:any|enough|sufficient|much)?"
            "{g2} {info}",
            "no (?:[\\w'-]{1,20}\\s+){0,3}?(?:{info})(?: {g6})? (?:is|are|was|were|has been"
            "|have been|can be|could be) (?:{told}|made)",
            "no (?:[\\w'-]{1,20}\\s+){0,2}?(?:information|info|details|mention|data|answer)"
            " (?:about|on|of|regarding|concerning|for|as to|whether|that|to|{told})",
            "(?:{not}|without) (?:have |having |provide |contain )?(?:{enough}) "
            "(?:[\\w'-]{1,20}\\s+){0,2}?(?:{info}|evidence)",
            "insufficient (?:[\\w'-]{1,20}\\s+){0,2}?(?:{info}|evidence)",
            "lack(?:s|ing)?(?: of)? (?:[\\w'-]{1,20}\\s+){0,2}?(?:{info})",
            "(?:this|that|the|these|such|those|specific|exact|any|more|further|requested)"
            "(?: [\\w'-]{1,20})?{g1} (?:information|info|details?|answers?|data|specifics)"
            "{g6} (?:{is_not}){adverb} {told}",
            "(?:this|that|the|such|specific|requested) (?:[\\w'-]{1,20}\\s+){0,2}?"
            "(?:information|info|answer|data) (?:is|are) (?:unavailable|missing|unknown|absent)",
            "no answer (?:is|was|can|could|to)",
        ],
        "says that it does not know": [
            "{i} {does_not}{adverb} (?:know|have (?:any|the|that|this|those|these|it|such"
            "|{enough}|specific|access|an answer|a (?:specific|definit|direct|clear)\\w*|much"
            "|more|information|info|details|data|knowledge|context|further|current|real"
            "|up|exact|relevant|additional|detailed|personal|reliable|verified|complete"
            "|particular|concrete|full|precise|direct|either))",
            "{i} {does_not}{adverb} (?:find|see|locate|possess|recogni[sz]e|recall) "
            "(?:any|the|that|this|an?|enough|specific|information|mention|relevant|it|where"
            "|details|data|anything)",
            "(?:i am|i'm|we are|we're) (?:not|un)(?: entirely| really| quite| completely"
            "| fully)? ?(?:sure|certain|aware|familiar|in a position)(?! (?:which|what"
            "|who) {g2} you)",
            "{i} (?:have|had|possess|found|find|see|could find|can find) (?:no|nothing|not "
            "found|little|insufficient|not enough|not been given|not been provided|not seen"
            "|not got|limited)",
            "{i} (?:haven't|have not) (?:been|found|got|seen)",
            "{i} (?:lack|neither (?:have|know|found|find))",
            "not (?:something|a topic|a question) (?:that )?{i} (?:know|can|have|am)",
            "my (?:[\\w'-]{1,20}\\s+){0,2}?(?:knowledge|information|training|sources|data)"
            "{g4} {does_not}",
            "(?:beyond|outside|out)(?: of)? (?:my|the|our) (?:[\\w'-]{1,20}\\s+){0,2}?"
            "(?:knowledge|scope|expertise|reach|information)",
        ],
        "says that it cannot answer": [
            "{i}(?: {sorry})?(?: {g1})? ?(?:{cannot}){adverb} {do_it}(?!{g3} enough)",
            "{i} (?:{does_not}|{cannot}){adverb} (?:understand|follow|get) (?:the|your|this|that)"
            " (?:{asked})",
            "{sorry}{g4} (?:{cannot}){adverb} {do_it}",
            "(?:{asked}|it|this|that|which|whether){g8} (?:can ?not|can't|could not|couldn't)"
            "{adverb} be{adverb} (?:{work_out})",
            "(?:can ?not|can't|could not|couldn't|not possible to|impossible to)(?: be)?{adverb}"
            " (?:{work_out}){g8} {from} {documents}",
            "(?:it|this|that)(?: is|'s|was| would be| seems)(?: not|n't) (?:currently )?possible"
            " (?:for me )?to{adverb} (?:{work_out})",
            "isn't possible (?:for me )?to{adverb} (?:{work_out})",
            "impossible (?:for me )?to{adverb} (?:answer|determine|say|tell|know)",
            "(?:{asked}){g4} (?:is|was|remains|are) (?:unanswerable|unanswered|out of scope"
            "|not answerable|unclear from|outside|beyond)",
            "without (?:more|further|additional|access to|any|that|this|the){g4} (?:{info})"
            "{g4} {cannot}",
        ],
    },
    may_refuse={
        "something is not told": [
            "nothing (?:is|was|about|on|regarding)",
            "{is_not}{adverb} {said}",
            "{is_not}{adverb} (?:provided|available|given|included|detailed|described|listed"
            "|explained|documented|recorded|found|disclosed|publicly known)",
            "not (?:specified|mentioned|stated|provided)",
            "(?:{documents})? ?{does_not}{adverb} (?:specify|mention|disclose)",
        ],
        "the documents tell of something else": [
            "{documents}{g3} (?:{only}) (?:{treat})(?: on| about| with)?{g12},? (?:and |but )?not",
            "{documents}{g3} (?:{treat}) (?:{only})(?: on| about| with)?{g12},? (?:and |but )?not",
            "{documents}{g3} focus(?:es|ed)? on{g12},? (?:and |but )?not",
        ],
        "something is not known": [
            "(?:is|are|was|were|remains?|it's) (?:still |currently |largely )?(?:unknown"
            "|unclear|uncertain|undetermined|unspecified|undisclosed)",
            "{is_not}{adverb} (?:known|clear|certain)",
            "(?:can ?not|can't|could not|couldn't){adverb} be{adverb} (?:{work_out})",
            "(?:difficult|hard) to (?:say|tell|determine|know|answer)",
            "no one knows|nobody knows|not sure|hard to say|who knows",
            "there (?:is|are|was|were) no (?:[\\w'-]{1,20}\\s+){0,2}?(?:{trace})",
            "not (?:necessarily|entirely) clear",
        ],
        "it is unable to": [
            "(?:unable|not able) to{adverb} {do_it}",
            "{i} (?:{does_not}|would rather not|prefer not to|must decline|decline)",
            "(?:{cannot}) (?:answer|provide an answer)",
        ],
    },
    about_documents=[
        "(?:does|do|did|is|are|was|were|what|which|how|where) {g5}{documents}",
        "{documents}{g3} {tells}",
        "(?:mention|specify|say|state|contain|include|mentioned|specified|stated)",
    ],
    preface=[
        "(?:based (?:solely |only )?(?:up)?on|according to|given|from|in|within|using|judging by"
        "|per|as per|considering|after (?:reviewing|reading|searching)|looking at|in light of"
        "|having (?:reviewed|read)|on the basis of|with)(?: only| just)? {documents}"
        "(?: alone| above| provided| given)?",
    ],
    lead=[
        "however|but|therefore|thus|so|hence|additionally|also|as such|instead|that said|still"
        "|nevertheless|unfortunately|in summary|overall|note that|note|and|yet|in addition"
        "|furthermore|moreover|consequently|in conclusion|as a result|nonetheless|then"
        "|otherwise|for now|finally|answer|final answer|response|claim|based on this|sorry"
        "|to answer (?:your|the|this|that) (?:question|query)|well|hmm|ok|okay|i see|thank you"
        "|thanks|hi|hello|regrettably|in short|in fact",
    ],
    aside=[
        "(?:i'm |i am |we are |we're )?(?:very |so |really |truly |deeply )?sorry"
        "(?: about| for| if| to hear| that| but)?",
        "(?:i |we |please accept my |my )?(?:sincere(?:ly)? )?apolog\\w{2,5}",
        "please|feel free|don't hesitate|let me know|let us know|thank|good luck|i hope"
        "|hope this|happy to|glad to",
        "if (?:you|there|more|further|additional|any|the user|so|it|this|that)",
        "would you|is there (?:anything|something|any other|another)|do you (?:have|need|want)"
        "|can i |may i|how (?:else )?(?:can|may) i|what else",
        "{i}(?: can|'d| would| could|'m| am|'ll| will)(?: also| still| only)? (?:be )?(?:happy"
        "|glad|here|suggest|recommend|help|advise|need|try|assist|offer to|encourage|like to"
        "|provide (?:information|general)|answer (?:other|questions)|only|tell you about|love"
        "|appreciate|certainly|gladly)",
        "{i} (?:suggest|recommend|advise|encourage|hope|need|require|only have|only know"
        "|was only|am only|can only|could only|may need|have only|searched|reviewed|checked"
        "|looked)",
        "you(?:'ll|'d| may| might| can| could| should| would| will)?(?: also| want to| wish to"
        "| need to| try| have to| have better luck| be able to| try to| like to| always"
        "| then)* (?:check|consult|contact|refer|visit|look|search|reach|find|ask"
        "|review|provide|seek|see|call|get|go to|check(?:ing)?|consulting|contacting|consider"
        "|rephrase|clarify|obtain|want)",
        "for (?:more|further|additional|accurate|specific|detailed|up-to-date|this|that|the"
        "|these|any|precise|exact|such|a)",
        "to (?:find|get|answer|learn|obtain|determine|provide|know|be|help|give|verify|confirm)",
        "it (?:would|may|might|could)? ?(?:be|is|'s)(?: also)? (?:best|advisable|recommended"
        "|helpful|necessary|worth|better|suggested|useful|beneficial)",
        "(?:it|this|that)(?:'s| is| may be| might be| could be) (?:possible that|because|likely"
        "|why|a limitation|due|based|not (?:covered|related))",
        "consider|try|check|consult|contact|see the|refer to|visit",
        "(?:additional|further|more|other|external|outside) (?:[\\w'-]{1,20}\\s+){0,2}?"
        "(?:information|context|details|research|sources|documents|documentation|data|research"
        "|resources|clarification|material)",
        "(?:while|although|though|whereas|since|because|as)? ?{documents}{g3} (?:only|mainly"
        "|primarily|mostly|do|does|just|simply|merely|instead|also|generally|solely|all|rather)?"
        " ?(?:discuss|focus|cover|describe|talk|deal|refer|relate|are about|is about"
        "|is related|are related|address|touch|center|centre|pertain|concern|seem|appear"
        "|mentions?|is limited|are limited|is not|are not|is from|are from|were|was)"
        "(?:s|es|ed|ing)?(?! that)",
        "(?:while|although|though)? ?{documents}{g3} (?:only |mainly |just )?(?:provides?"
        "|contains?|includes?|gives?|offers?|has|have) (?:only |some |general |limited |other"
        " |various |related |an? )*(?:information|details|data|overview|background|context"
        "|discussion|facts|references|descriptions?|content)",
        "(?:they|it|these|those|all of them|each|this)(?: all| each)? (?:only|mainly|primarily"
        "|mostly|instead|just|merely|simply|rather|solely|does|do|all)? ?(?:discuss|focus"
        "|cover|describe|talk|deal|refer|relate|address|pertain|concern|mention)(?:s|es)?"
        "(?! that)",
        "(?:they|it)(?: only| mainly)? (?:provide|contain|include|give|offer|have|has)s?"
        " (?:only |some |general |limited )*(?:information|details)",
        "(?:the|this|your|that|my) (?:[\\w'-]{1,20}\\s+)?(?:question|query|request)"
        " (?:is|asks|seems|appears|asked|refers|relates|may|might|requires|you|about|was)",
        "(?:based on|according to|given|from|in|using|looking at|after|upon|having)"
        "(?: {g3})? {documents}$",
        "{documents}$",
        "(?:as|since) (?:an? )?(?:ai|language model|assistant|i am)",
        "(?:references?|sources?|citations?|context|question|confidence|note|explanation"
        "|reason|reasoning|answer|claim|final answer)$",
        "(?:sources?|citations?|references?|question|confidence) ?:",
    ],
    contrast=["but|however|although|though|nevertheless|that said|except that|nonetheless|yet"],
    concession=["while|although|though|even though|whilst|whereas|despite|besides|apart from"],
    yes_or_no=["yes|no|correct|true|false|absolutely|indeed"],
    asks_back=[
        "(?:which|what|who|where)(?: [\\w'-]{1,20}){0,5} (?:are|were|do|did|would) you"
        "(?: [\\w'-]{1,20}){0,3} (?:refer|mean|talk|ask|interest|look|like|want|inquir"
        "|speak|wish|have in mind)\\w*",
        "(?:do|did|are|were) you (?:mean|refer|ask|talk|look|interest|inquir|speak|want to know"
        "|wonder)\\w*",
        "(?:could|can|would|will) you (?:please |kindly |also )?(?:clarify|specify|provide|be "
        "more|elaborate|tell me (?:which|what|more)|give (?:me )?more|explain what|share|confirm"
        "|let me know|rephrase|narrow|indicate|say more|expand|repeat)",
        "(?:please|kindly) (?:clarify|specify|provide more|provide (?:additional|further|the"
        "|specific)|be more specific|indicate which|tell me (?:which|what|more)|let me know"
        " (?:which|what)|give (?:me )?more|rephrase|elaborate|narrow)",
        "(?:what|which) (?:exactly |specifically |specific )?(?:do you mean|one|ones|are you)",
        "do you have (?:another|a specific|a particular|something|any specific|one)",
        "is (?:there a (?:specific|particular)|it) {g6} you",
        "can you be more specific|more specific about|i(?: would|'d)? need (?:a bit |a little )?"
        "more (?:information|context|details?)",
    ],
    several=[
        "there(?: are| is| were|'re) (?:many|several|multiple|a few|different|various|two|three"
        "|numerous|more than one|a number of|some|lots of|quite a few)",
        "(?:[\\w'-]{1,20} ){0,6}you (?:could|might|may|can) (?:be |mean)",
        "for (?:example|instance)",
        "(?:i|we) need (?:a bit |a little )?more",
    ],
)
