CREATE INDEX ix_rag_traces_ts ON rag_traces (ts)
CREATE INDEX ix_run_labels_key_value ON run_labels ("key", value)
CREATE INDEX ix_run_metrics_metric ON run_metrics (metric)
CREATE INDEX ix_run_units_run_label ON run_units (run, label)
CREATE INDEX ix_runs_gold_sha256 ON runs (gold_sha256)
CREATE INDEX ix_runs_recorded_at ON runs (recorded_at)
CREATE INDEX ix_tags_run ON tags (run)
CREATE TABLE file_pieces (
	run INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (run, name, number), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE gold_questions (
	gold_sha256 TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	qid TEXT NOT NULL, 
	question TEXT NOT NULL, 
	answerable BOOLEAN NOT NULL, 
	line TEXT NOT NULL, 
	PRIMARY KEY (gold_sha256, place)
)
CREATE TABLE judge_replies (
	"key" TEXT NOT NULL, 
	reply BLOB NOT NULL, 
	PRIMARY KEY ("key")
)
CREATE TABLE packed_gold (
	gold_sha256 TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	text TEXT, 
	content BLOB NOT NULL, 
	PRIMARY KEY (gold_sha256, number)
)
CREATE TABLE packed_units (
	run INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	text TEXT, 
	content BLOB NOT NULL, 
	PRIMARY KEY (run, number), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE rag_traces (
	run TEXT NOT NULL, 
	qid TEXT NOT NULL, 
	seg INTEGER NOT NULL, 
	ts TEXT NOT NULL, 
	"deltaS" FLOAT, 
	lambda_state TEXT, 
	k INTEGER, 
	store TEXT, 
	index_hash TEXT, 
	embed_model TEXT, 
	analyzer TEXT, 
	section_id TEXT, 
	rev TEXT, 
	citations JSON NOT NULL, 
	scores JSON NOT NULL, 
	kpos JSON NOT NULL, 
	kfinal JSON NOT NULL, 
	PRIMARY KEY (run, qid, seg)
)
CREATE TABLE ragauge_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT ragauge_version_pkc PRIMARY KEY (version_num)
)
CREATE TABLE regressions (
	run INTEGER NOT NULL, 
	baseline TEXT NOT NULL, seal TEXT, 
	PRIMARY KEY (run, baseline), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE run_files (
	run INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	PRIMARY KEY (run, name), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE run_labels (
	run INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (run, "key"), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE run_metrics (
	run INTEGER NOT NULL, 
	metric TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	better TEXT NOT NULL, 
	total TEXT NOT NULL, 
	value FLOAT, 
	low FLOAT, 
	high FLOAT, 
	n BIGINT NOT NULL, 
	"of" BIGINT NOT NULL, 
	reason TEXT, 
	signature TEXT NOT NULL, 
	PRIMARY KEY (run, metric), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE run_units (
	run INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	unit TEXT NOT NULL, 
	label TEXT, 
	"right" BOOLEAN, 
	"values" JSON NOT NULL, 
	line TEXT NOT NULL, 
	PRIMARY KEY (run, place), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE run_words (
	run INTEGER NOT NULL, 
	words TEXT NOT NULL, 
	PRIMARY KEY (run), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE runs (
	number INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	command TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	passed BOOLEAN NOT NULL, 
	git_commit TEXT, 
	git_branch TEXT, 
	gold_sha256 TEXT, 
	configuration_sha256 TEXT NOT NULL, 
	document TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (id)
)
CREATE TABLE tags (
	tag TEXT NOT NULL, 
	run INTEGER NOT NULL, seal TEXT, 
	PRIMARY KEY (tag), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
CREATE TABLE unit_keys (
	run INTEGER NOT NULL, 
	"key" BIGINT NOT NULL, 
	place INTEGER NOT NULL, 
	PRIMARY KEY (run, "key", place), 
	FOREIGN KEY(run) REFERENCES runs (number) ON DELETE CASCADE
)
 WITHOUT ROWID


