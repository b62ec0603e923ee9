import type { SchemaPart } from "../../cluster/migrate.ts";

/** The key of an event in checksums, as in the SQLite journal. A log has fewer events than this. */
const seqsPerConversation = 2 ** 28;
export const maxSeq = seqsPerConversation - 1;

export function positionOf(number: number, seq: number): number {
  return number * seqsPerConversation + seq;
}

/*
 * The tables of the first release.
 * heads has the only row that an append changes: small, with room on its page, and no index on what an ordinary append
 * changes. Its updated_at is exact; that of conversations is left alone while a conversation runs, because it is in indexes.
 * conversations has what lists filter by: folder and tags are copies out of the configuration.
 * classes numbers each (kind, source, has text): every kind and source filter is a merge of a few ranges.
 * events.json is text, never json: it goes out as it came. No foreign keys: deleted logs (table doomed) are removed in slices.
 * texts has the folded texts of messages. text_blocks: the texts of all events in blocks, those of messages by their class, of others under
 * class 0; text_logs: how far each log has been read for it.
 * machine: the data folder of the last owner, where the records of its tools are, or of who made it; former_machine: the one before that.
 * All that is compared has COLLATE "C"; a title is compared without case, by the rules of the database's language.
 */
const tables = `
CREATE TABLE convoke.conversations (
  number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  owner_id    text COLLATE "C" NOT NULL,
  execution_status text COLLATE "C" NOT NULL,
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  title       text,
  sandbox_id  text COLLATE "C",
  parent_id   text COLLATE "C",
  host        text COLLATE "C",
  app_facts   jsonb,
  app_parent_id text COLLATE "C",
  is_copying  boolean NOT NULL,
  working_dir text COLLATE "C",
  tags        text COLLATE "C",
  is_archived boolean NOT NULL DEFAULT false,
  is_pinned   boolean NOT NULL DEFAULT false,
  read_event_id text COLLATE "C"
) WITH (fillfactor = 80);
CREATE INDEX conversations_created ON convoke.conversations (created_at, number);
CREATE INDEX conversations_updated ON convoke.conversations (updated_at, number);
CREATE INDEX conversations_owner_created ON convoke.conversations (owner_id, created_at, number);
CREATE INDEX conversations_owner_updated ON convoke.conversations (owner_id, updated_at, number);
CREATE INDEX conversations_owner_status_created ON convoke.conversations (owner_id, execution_status, created_at, number);
CREATE INDEX conversations_owner_status_updated ON convoke.conversations (owner_id, execution_status, updated_at, number);
CREATE INDEX conversations_sandbox ON convoke.conversations (owner_id, sandbox_id, created_at, number) WHERE sandbox_id IS NOT NULL;
CREATE INDEX conversations_app ON convoke.conversations (owner_id, created_at, number) WHERE app_facts IS NOT NULL;
CREATE INDEX conversations_app_parent ON convoke.conversations (owner_id, app_parent_id, created_at, number)
  WHERE app_facts IS NOT NULL AND app_parent_id IS NOT NULL;
CREATE INDEX conversations_parent ON convoke.conversations (parent_id, updated_at, number) WHERE parent_id IS NOT NULL;
CREATE INDEX conversations_pinned ON convoke.conversations (owner_id, updated_at, number) WHERE is_pinned;
CREATE INDEX conversations_running ON convoke.conversations (owner_id, number) WHERE execution_status = 'running';

CREATE TABLE convoke.heads (
  number      bigint PRIMARY KEY,
  generation  bigint NOT NULL DEFAULT 0,
  node_id     text COLLATE "C",
  is_active   boolean NOT NULL,
  last_seq    integer NOT NULL DEFAULT 0,
  last_id     uuid,
  last_at     bigint,
  updated_at  bigint NOT NULL,
  machine     text COLLATE "C",
  former_machine text COLLATE "C"
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX heads_active ON convoke.heads (number) WHERE is_active;

CREATE TABLE convoke.documents (
  number      bigint PRIMARY KEY,
  config      text NOT NULL,
  sealed_secrets text,
  snapshot    text,
  snapshot_seq integer NOT NULL
);

CREATE TABLE convoke.inbox (
  number      bigint NOT NULL,
  client_id   text COLLATE "C" NOT NULL,
  event_id    text COLLATE "C" NOT NULL,
  digest      text COLLATE "C" NOT NULL,
  PRIMARY KEY (number, client_id)
);

CREATE TABLE convoke.classes (
  code        smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind        text COLLATE "C" NOT NULL,
  source      text COLLATE "C" NOT NULL,
  has_text    boolean NOT NULL,
  UNIQUE (kind, source, has_text)
);

CREATE TABLE convoke.events (
  log         bigint NOT NULL,
  seq         integer NOT NULL,
  id          uuid NOT NULL,
  at          bigint NOT NULL,
  class       smallint NOT NULL,
  json        text NOT NULL,
  meta        text,
  checksum    bigint NOT NULL,
  PRIMARY KEY (log, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX events_class ON convoke.events (log, class, seq);
CREATE INDEX events_id ON convoke.events (log, id);
CREATE INDEX events_at ON convoke.events (log, at);

CREATE TABLE convoke.texts (
  log         bigint NOT NULL,
  seq         integer NOT NULL,
  class       smallint NOT NULL,
  folded      text COLLATE "C" NOT NULL,
  PRIMARY KEY (log, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE INDEX texts_class ON convoke.texts (log, class, seq);

CREATE TABLE convoke.text_blocks (
  log         bigint NOT NULL,
  class       smallint NOT NULL,
  first_seq   integer NOT NULL,
  last_seq    integer NOT NULL,
  first_at    bigint NOT NULL,
  last_at     bigint NOT NULL,
  entries     text NOT NULL,
  grams       integer[] NOT NULL,
  PRIMARY KEY (log, class, first_seq)
);
CREATE INDEX text_blocks_grams ON convoke.text_blocks USING gin (grams) WITH (gin_pending_list_limit = 256);
CREATE TABLE convoke.text_logs (log bigint PRIMARY KEY, read_seq integer NOT NULL);

CREATE TABLE convoke.doomed (log bigint PRIMARY KEY);
`;

/*
 * Each class is a range of one index that is read in order, and no further than it takes. The planner is told what to leave alone: without
 * statistics of a log it would rather read and sort a whole span. A plan that is forced has a price beyond all bounds, at which the
 * database would compile it: hence no jit.
 * text_blocks_with: the grams lie outside of the rows, which makes reading all blocks look cheap; it is not, by a factor of twenty.
 * texts_ascending, texts_descending: the first messages of some classes in a span, and which of them have the needle.
 * matches_ascending, matches_descending: messages with a needle, found by blocks, and those behind. Each class is one search of the index;
 * without enable_sort the planner keeps the order of its blocks.
 */
const functions = `
CREATE FUNCTION convoke.text_blocks_with(wanted integer[])
  RETURNS TABLE (log bigint, class smallint, first_seq integer, last_seq integer)
  LANGUAGE sql STABLE ROWS 20 SET enable_seqscan = off SET jit = off
  AS 'SELECT b.log, b.class, b.first_seq, b.last_seq FROM convoke.text_blocks b WHERE b.grams @> wanted';
`;

const functionsOf = (name: string, direction: string): string => `
CREATE FUNCTION convoke.texts_${name}(of_log bigint, codes smallint[], needle text, first integer, last integer, most integer)
  RETURNS TABLE (seq integer, is_match boolean)
  LANGUAGE sql STABLE ROWS 400 SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
  AS 'SELECT found.seq, strpos(found.folded, needle) > 0 FROM (
        SELECT part.seq, part.folded FROM unnest(codes) AS selected(code) CROSS JOIN LATERAL (
          SELECT t.seq, t.folded FROM convoke.texts t WHERE t.log = of_log AND t.class = selected.code AND t.seq BETWEEN first AND last
          ORDER BY t.seq ${direction} LIMIT most
        ) part ORDER BY part.seq ${direction} LIMIT most
      ) found ORDER BY found.seq ${direction}';

CREATE FUNCTION convoke.matches_${name}(of_log bigint, codes smallint[], class_grams integer[], wanted integer[], needle text,
    first integer, last integer, most integer)
  RETURNS TABLE (seq integer)
  LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off
    SET jit = off
  AS 'SELECT found.seq FROM (
        SELECT part.seq FROM unnest(codes, class_grams) AS selected(code, gram) CROSS JOIN LATERAL (
          SELECT t.seq FROM (
            SELECT b.first_seq, b.last_seq FROM convoke.text_blocks_with(selected.gram || wanted) b
            WHERE b.log = of_log AND b.class = selected.code AND b.first_seq <= last AND b.last_seq >= first ORDER BY b.first_seq ${direction}
          ) block JOIN convoke.texts t ON t.log = of_log AND t.class = selected.code AND t.seq BETWEEN block.first_seq AND block.last_seq
          WHERE t.seq BETWEEN first AND last AND strpos(t.folded, needle) > 0
          ORDER BY block.first_seq ${direction}, t.seq ${direction} LIMIT most
        ) part
        UNION
        SELECT t.seq FROM unnest(codes) AS selected(code) JOIN convoke.texts t ON t.log = of_log AND t.class = selected.code
        WHERE t.seq BETWEEN first AND last AND strpos(t.folded, needle) > 0
          AND t.seq > coalesce((SELECT l.read_seq FROM convoke.text_logs l WHERE l.log = of_log), 0)
      ) found ORDER BY found.seq ${direction} LIMIT most';`;

/** Version 7 is that of the first release. */
export const journalSchema: SchemaPart = {
  name: "journal",
  firstVersion: 7,
  steps: [`${tables}${functions}${functionsOf("ascending", "ASC")}${functionsOf("descending", "DESC")}`],
};
