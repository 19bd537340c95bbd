"""Words that claim little by themselves: an answer may use them where no context does.

They tie, frame, report, weigh and hedge. Only English has a list: in other languages such words
count in full, which makes a score a little harder and never easier.
"""

from __future__ import annotations

_WORDS = """
    ability able absolutely accordingly achieve achieved across action actions actually add added
    adding addition additional additionally address aim aims alike allow allowed allowing allows
    almost along alongside already alternatively although always among amount ample another answer
    answers anyone anything apart apparent appear appeared appears applies apply appreciate
    appreciated approach appropriate approximately area areas argue argued argues around article
    aspect aspects associated assume attempt attention author available average avoid aware away
    based basis became become becomes becoming begin begins behalf behind being belief believe
    believed believes beneficial benefit benefits beside best better beyond bit brief briefly
    bring brings brought call called came capable care careful carefully case cases cause caused
    causes causing central certain certainly challenge challenges change changes characterized
    check choice choices choose chose cite cited citing claim claimed claims clear clearly closely
    come comes coming comment commented comments common commonly compared complete completely
    comprehensive concern concerns conclude concluded concludes conclusion condition conditions
    confirm confirmed connected consequently consider considerable considered consist consistent
    consistently consists contain contained containing contains content context contexts continue
    continued continues contrast contribute contributed contributes convenient correct could
    couple create created creates creating crucial current currently data deal decide decided
    decision deem deemed deeply define defined depend depending depends describe described
    describes describing despite detail detailed details determine determined development differ
    difference differences different difficult difficulty direct directly discuss discussed
    discusses discussing document documents done due earlier early easily easy effect effective
    effectively effects effort efforts either else elsewhere emphasize emphasized emphasizes
    emphasizing enable enables encounter end ended ending engage enjoy enjoyed enough ensure
    ensures ensuring entire entirely especially essential essentially establish established
    estimate etc even event events eventually ever every everyone everything evidence evident
    exact exactly example examples excellent except exceptional exist existing exists expect
    expected experience experienced experiences explain explained explains explicitly express
    expressed expresses expressing extensive extent extra face faced facing fact factor factors
    facts fairly fall familiar favor feature featured features featuring feedback feel feels felt
    few fewer fill final finally find finding finds fine first focus focused focuses follow
    followed following follows form format former forms forward found frequent frequently full
    fully function functions further furthermore future gain gained gather gave general generally
    generate get gets getting give given gives giving go goal goes going good got great greater
    greatly group groups guide half hand handle happen happened happening happens hard hardly head
    hear help helped helpful helping helps hence here high higher highest highlight highlighted
    highlighting highlights highly hold holding holds hope however huge idea ideal identified
    identify immediate immediately impact implies importance important importantly impression
    impressive improve improved improvement improves improving incident incidents include included
    includes including incorporate increase increased increasing indeed indicate indicated
    indicates indicating indication individual individuals inform information initial initially
    inside instance instances instead intended interest interested interesting introduce
    introduced involve involved involves involving issue issues item items itself join joined json
    keep keeping key kind kinds know known knows lack lacks large largely larger largest last
    lastly late later latest latter lead leading leads least leave leaving led left less let level
    levels lie like likely limit limited line list listed lists little local locate located
    location locations long longer look looking looks lot lots low lower made main mainly maintain
    maintained maintaining major majority make makes making manage managed manner many mark match
    matter matters maximum maybe mean meaning means meant meanwhile measure meet meeting meets
    mention mentioned mentioning mentions method methods middle might mind minor miss mix mixed
    moment more moreover most mostly move moved much multiple must name named namely names nature
    near nearby nearly necessarily necessary need needed needs negative never nevertheless new
    next nonetheless notable notably note noted notes nothing notice noticed number numerous
    objective obtain obtained obvious occasion occasionally occur occurred occurring occurs offer
    offered offering offers often ok okay old one ones open operate operated operates operation
    opinion opportunity option options order ordinary original originally other others otherwise
    outcome outside overall overview own paragraph part partially particular particularly parts
    party pass passage passages passed past path people per perfect perform performed perhaps
    period person personal perspective piece place placed places plan plans play played plays
    please plus point points poor popular portion position positive possibility possible possibly
    potential potentially practice praise praised praising prefer present presented presents
    previous previously primarily primary prior probably problem problems procedure proceed
    process processes produce produced product products promote proper properly prove provide
    provided provides providing purpose put quality question questions quick quickly quite raise
    raised range rate rated rather reach reached read ready real really reason reasons receive
    received receives receiving recent recently recognize recognized recommend recommended refer
    reference referred referring refers reflect reflected reflects regard regarded regarding
    regardless regular regularly relate related relates relating relation relative relatively
    relevant reliable remain remained remaining remains remark report reported reportedly
    reporting reports represent represented represents request requested require required
    requirement requirements requires requiring respectively respond response responsible rest
    result resulted resulting results reveal revealed reveals right role said same say saying says
    second section see seeing seek seeking seem seemed seems seen select self sense sent separate
    serve served serves serving set sets setting several shall share shared short should show
    showed showing shown shows side significant significantly similar similarly simple simply
    since single situation situations size slightly small smaller solid someone something
    sometimes somewhat soon sort source sources speak special specific specifically specified
    specify spot stand standard start started starting starts state stated statement statements
    states stating stay step steps still strong strongly structured style subject substantial
    successfully such sufficient suggest suggested suggesting suggests suitable summarize
    summarized summarizes summary support supported supporting supports suppose sure surrounding
    take taken takes taking talk task tell tells tend tends term terms text thank thanks
    themselves therefore thing things think third though thought through throughout thus time
    times together took top topic total toward towards traditional treat treated true truly try
    trying turn turned turns two type types typical typically ultimately unable unclear under
    understand understanding unfortunately unique unknown unless unlike upon usage use used useful
    user users uses using usual usually valuable value variety various vary varying version versus
    via view viewed visit want wanted wants way ways well went whatever whereas wherever whether
    whole wide widely widespread will willing wish within without wonder word words work worked
    working works world worse worst worth would write writes written yes yet
"""
LIGHT_WORDS = frozenset(_WORDS.split())
