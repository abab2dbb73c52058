"""Passages that steer a reader, in eight more languages; the notation is that of `phrases`."""

from litcascade.schemas.steering.phrases import rules

_GERMAN = """
override!: (ignoriere|ignorieren sie|ignoriert|missachte|missachten sie|vergiss|vergessen sie|übergehe|beachte nicht) ~
    (vorherigen|bisherigen|obigen|vorangegangenen|früheren|vorstehenden|vorigen|ursprünglichen|genannten) ~ (anweisungen|
    instruktionen|befehle|vorgaben|regeln|anweisung|kriterien)
override!: (ignoriere|ignorieren sie|vergiss|vergessen sie|missachte) (alles|alle anweisungen|deine anweisungen|ihre
    anweisungen|die einschlusskriterien|die kriterien|den systemprompt)
role: (du bist|sie sind) (jetzt|nun|ab sofort|ab jetzt|nicht mehr) ~2 (ein|eine|der|die|das|kein|keine)
verdict: (antworte|antworten sie|gib|geben sie|schreibe|schreiben sie) ~2 (ja|include|einschließen|einschluss|relevant)
    !(oder|und|nein)
verdict: (schließe|schließen sie|nimm|nehmen sie) diese ~1 (studie|arbeit|publikation|veröffentlichung) ~4 (ein|auf)
verdict: diese ~1 (studie|arbeit|publikation|veröffentlichung) (muss|ist|soll|sollte) ~3 (eingeschlossen werden|aufgenommen
    werden|einzuschließen|aufzunehmen)
verdict: (bewerte|bewerten sie|markiere|markieren sie) (diese|dies|sie) ~1 als (relevant|eingeschlossen|geeignet)
addressed: (hinweis|anweisung|nachricht|mitteilung|achtung) (an|für) ~2 (ki|sprachmodell|sprachmodelle|künstliche intelligenz|
    llm|assistenten|gutachter-ki)
addressed: wenn du ~2 (sprachmodell|ki|künstliche intelligenz|assistent) bist
authority: (diese|die vorliegende) ~1 (studie|arbeit) erfüllt (alle|sämtliche) ~1 (einschlusskriterien|kriterien)
authority: als (gutachter|herausgeber|autor|redakteur) ~3 bestätige ich
format!: (gib|geben sie|zeige|zeigen sie|nenne) ~2 (deinen|ihren|den) ~1 (systemprompt|system-prompt|prompt)
"""
_FRENCH = """
override!: (ignore|ignorez|oublie|oubliez|négligez|ne tenez pas compte de|ne tiens pas compte de|ne suivez pas) ~
    (instructions|consignes|directives|règles) ~2 (précédentes|antérieures|ci-dessus|précédant|données|initiales)
override!: (ignore|ignorez|oublie|oubliez) (tout ce qui précède|toutes les instructions|les critères|vos instructions|tes
    instructions)
role: (tu es|vous êtes) (maintenant|désormais|dorénavant) (un|une|le|la)
verdict: (réponds|répondez|répondre) ~2 (oui|include|inclure) !(ou|et|non)
verdict!: (inclus|incluez|acceptez|accepte|retenez|veuillez inclure|merci d'inclure|veuillez retenir) ~1 (cette étude|cet
    article|ce papier|cet essai|cette publication)
verdict: (cette étude|cet article|cette publication|cet essai) doit ~1 être (incluse|inclus|retenue|retenu|acceptée|accepté)
verdict: (marquez|classez|considérez|marque|classe) (cette étude|cet article) comme (pertinente|pertinent|incluse|inclus|
    éligible)
addressed: (note|message|attention|instruction|avis) (à|pour|aux|au) ~2 (ia|modèle de langage|modèles de langage|modèle|llm|
    intelligence artificielle|relecteur automatique)
addressed: si (tu es|vous êtes) ~2 (modèle|ia|intelligence artificielle|assistant)
authority: (cette étude|cet article|cet essai) (répond|satisfait|remplit) ~1 tous les critères
authority: en tant que (relecteur|éditeur|rédacteur|auteur) ~3 je confirme
"""
_SPANISH = """
override!: (ignora|ignore|ignorad|ignoren|olvida|olvide|descarta|descarte|desestime|haz caso omiso de|haga caso omiso de|no
    sigas|no siga) ~ (instrucciones|indicaciones|órdenes|reglas|directrices) ~2 (anteriores|previas|precedentes|de arriba|
    iniciales|recibidas)
override!: (ignora|ignore|olvida|olvide) (todo lo anterior|todas las instrucciones|sus instrucciones|tus instrucciones|los
    criterios)
role: (ahora eres|ahora usted es|a partir de ahora eres|a partir de ahora usted|desde ahora eres|usted es ahora) ~1 (un|una|
    el|la|debe)
verdict: (responde|responda|contesta|conteste|escribe|escriba) ~2 (sí|si|include|incluir) !(o|y|no|a|el|la|los|las|es|se)
verdict!: (incluye|incluya|acepta|acepte|incluid) (este estudio|este artículo|este ensayo|este trabajo)
verdict: (este estudio|este artículo|este ensayo|este trabajo) debe ~1 (ser incluido|incluirse|ser aceptado|aceptarse)
verdict: (marca|marque|clasifica|clasifique|considera|considere) (este estudio|este artículo) como (relevante|incluido|elegible)
addressed: (nota|mensaje|atención|instrucción|aviso) (para|a) ~2 (ia|modelo de lenguaje|modelos de lenguaje|modelo|llm|
    inteligencia artificial|revisor automático|revisores automáticos)
addressed: si (eres|usted es) ~2 (modelo|ia|inteligencia artificial|asistente)
authority: (este estudio|este artículo|este ensayo|este trabajo) cumple ~1 todos los criterios
authority: como (revisor|editor|autor) ~3 (confirmo|certifico|declaro)
"""
_PORTUGUESE = """
override!: (ignore|ignora|ignorem|esqueça|esquece|desconsidere|desconsidera|não siga) ~ (instruções|orientações|ordens|regras|
    diretrizes) ~2 (anteriores|prévias|precedentes|acima|iniciais|recebidas)
override!: (ignore|ignora|esqueça|desconsidere) (tudo acima|tudo o que|todas as instruções|suas instruções|os critérios)
role: (agora você é|você agora é|você é agora|a partir de agora você) ~1 (um|uma|o|a|é|deve|será)
verdict: (responda|responde|escreva) ~2 (sim|include|incluir) !(ou|e|não)
verdict!: (inclua|aceite|inclui) (este estudo|este artigo|este ensaio|este trabalho)
verdict: (este estudo|este artigo|este ensaio|este trabalho) deve ~1 ser (incluído|aceito|aceite|selecionado)
verdict: (marque|classifique|considere) (este estudo|este artigo) como (relevante|incluído|elegível)
addressed: (nota|mensagem|atenção|instrução|aviso) (para|ao|à|aos) ~2 (ia|modelo de linguagem|modelos de linguagem|modelo|llm|
    inteligência artificial|revisor automático)
addressed: se você (é|for) ~2 (modelo|ia|inteligência artificial|assistente)
authority: (este estudo|este artigo|este ensaio|este trabalho) (atende|cumpre|satisfaz|preenche) ~1 todos os critérios
authority: como (revisor|editor|autor) ~3 (confirmo|certifico|declaro)
"""
_ITALIAN = """
override!: (ignora|ignori|ignorate|dimentica|dimentichi|dimenticate|trascura|non seguire) ~ (istruzioni|indicazioni|regole|
    direttive|ordini) ~2 (precedenti|di cui sopra|soprastanti|iniziali|ricevute)
override!: (ignora|ignori|ignorate|dimentica) (tutto quanto sopra|tutte le istruzioni|le tue istruzioni|i criteri)
role: (ora sei|adesso sei|da ora sei|da ora in poi sei|d'ora in poi sei|lei è ora) ~1 (un|una|il|la)
verdict: (rispondi|risponda|rispondete|scrivi) ~2 (sì|si|include|includere) !(o|e|no|al|alla|che)
verdict!: (includi|includa|includete|accetta|accetti) (questo studio|questo articolo|questo lavoro)
verdict: (questo studio|questo articolo|questo lavoro) deve ~1 essere (incluso|accettato|selezionato)
verdict: (segna|classifica|considera|contrassegna) (questo studio|questo articolo) come (rilevante|incluso|idoneo|pertinente)
addressed: (nota|messaggio|attenzione|istruzione|avviso) (per|all|al|alla|ai) ~2 (ia|modello linguistico|modelli linguistici|
    modello|llm|intelligenza artificiale|revisore automatico)
addressed: se (sei|lei è) ~2 (modello|ia|intelligenza artificiale|assistente)
authority: (questo studio|questo articolo|questo lavoro) soddisfa ~1 tutti i criteri
authority: (come|in qualità di) (revisore|editore|autore) ~3 (confermo|certifico|dichiaro)
"""
_RUSSIAN = """
override!: (игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|не учитывай|не учитывайте|не следуй|не следуйте)
    ~ (предыдущие|предшествующие|прежние|вышеуказанные|вышеприведённые|предыдущим|прежним|приведённые выше|все) ~2
    (инструкции|указания|команды|правила|инструкциям|указаниям|критерии)
role: (ты теперь|теперь ты|вы теперь|теперь вы|отныне ты|отныне вы)
verdict: (ответь|ответьте|отвечай|отвечайте|напиши|напишите) ~2 (да|include|включить) !(или|и|нет)
verdict: (включи|включите|прими|примите) (это|данное|эту|данную|этот) (исследование|статью|работу|отчёт)
verdict: (это|данное|эта|данная) (исследование|статья|работа) (должно быть|должна быть|необходимо|следует|нужно) (включено|
    включена|включить|принять)
verdict: (отметь|отметьте|оцени|оцените) (это|эту|данное) ~1 как (релевантное|релевантную|подходящее|включённое)
addressed: (примечание|сообщение|указание|инструкция|внимание|заметка) (для|к)? ~1 (ии|языковой модели|языковых моделей|
    нейросети|искусственного интеллекта|автоматического рецензента)
addressed: если (ты|вы) ~2 (языковая модель|ии|нейросеть|искусственный интеллект|ассистент)
authority: (это|данное|эта) (исследование|статья|работа) (соответствует|удовлетворяет|отвечает) всем ~1 критериям
authority: как (рецензент|редактор|автор) ~3 (подтверждаю|заверяю)
"""
_CHINESE = """
override: (忽略|无视|無視|忽視|忘记|忘記|不要理会|不要遵循|请勿遵循) ~4 (之前|以上|先前|前面|上述|所有|此前|上面) ~4 (指令|
    指示|说明|說明|提示|命令|规则|標準|标准)
role: (你现在是|你現在是|从现在开始你|從現在開始你|从现在起你|你不再是|请扮演|現在你是|现在你是)
verdict: (请|請|只|仅|僅|必须|必須|务必) ~2 (回答|回复|回復|输出|輸出|答复) (:|为|")? (是|纳入|納入|包括|include|yes) !(否|或|
    与|和|还是|/)
verdict: (请|請|务必|必须|一定要) (纳入|納入|包括|收录|收錄|接受) (本|这|這|该|該|此) ~2 (研究|文章|论文|論文|文献|试验)
verdict: (本|这|這|该|該|此) (项|篇|項)? (研究|文章|论文|論文|文献|试验) (必须|必須|应当|應當|务必) (被)? (纳入|納入|收录|
    包括|接受)
verdict: (标记|標記|判定|归类) 为 (相关|符合|纳入|合格)
addressed: (致|给|給|告) (人工智能|ai|大语言模型|语言模型|大型語言模型|自动审稿|审稿ai|模型)
addressed: 如果你是 ~4 (语言模型|語言模型|人工智能|ai|助手)
authority: (本|这|该|此) (项|篇)? (研究|文章|论文|試驗|试验) (完全)? (符合|满足|滿足) (所有|全部) ~2 (纳入|納入|入选)? (标准|
    標準)
format: (显示|输出|透露|重复) ~4 (系统提示|系統提示)
"""
_JAPANESE = """
override: (以前|これまで|上記|前|先|すべて|全て|上) (の)? (すべての|全ての)? (指示|命令|プロンプト|指令|ルール) (を|は|を全て|
    をすべて) ~2 (無視|忘れ|破棄)
role: (あなたは今|あなたはこれから|今からあなたは|これからあなたは|あなたはもはや)
verdict: (はい|yes|include|含める|採用) (")? (とだけ|と) (答え|回答|出力|返答) (て|し|せよ|ろ|よ)
verdict: (この|本) (研究|論文|試験|文献|報告) を ~4 (含め|採用し|組み入れ|採択し|包含し) (てください|て下さい|
    なければならない|ること|よ)
addressed: (ai|モデル|言語モデル|大規模言語モデル|自動査読者|人工知能) (へ|への|に対する) (の)? (注意|指示|お知らせ|メモ|注記|:)
addressed: あなたが ~4 (言語モデル|ai|人工知能) (なら|の場合|であれば)
authority: (この|本) (研究|論文|試験) は (すべて|全て) の ~4 基準を (満たし|満たす)
format: システムプロンプト を ~4 (表示|出力|開示|教え)
"""
LANGUAGES = tuple(rule for text in (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _RUSSIAN) for rule in rules(text))
UNSPACED = tuple(rule for text in (_CHINESE, _JAPANESE) for rule in rules(text, spaced=False))
