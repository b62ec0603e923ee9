import type { Inspection } from "@convoke/server/inspect";
import { expect, test } from "vitest";
import { inspectionSections, inspectionWidth } from "./inspection-sections.ts";

const at = "2026-11-26T19:40:02.123456Z";
const id = "0193fd2c-7a10-7000-8000-000000000001";

function inspection(changes: Partial<Inspection> = {}): Inspection {
  return {
    id,
    inspected_at: at,
    conclusions: ["The call call_1 of terminal runs since 2026-11-26T19:40:02.123456Z."],
    row: {
      title: "Mend the parser",
      owner_id: "local",
      created_at: at,
      updated_at: at,
      execution_status: "running",
      is_active: true,
      is_copying: false,
      is_archived: false,
      sandbox_id: null,
      parent_conversation_id: null,
      host: null,
      config: {
        agent: { kind: "Agent", llm: { model: "openai/scripted" }, tools: [{ name: "terminal" }] },
        workspace: { kind: "LocalWorkspace", working_dir: "/srv/parser" },
        confirmation_policy: { kind: "NeverConfirm" },
        security_analyzer: null,
        max_iterations: 500,
        stuck_detection: true,
        tags: {},
      },
      sizes: {
        events: 4,
        event_bytes: 5_000,
        beside_bytes: 300,
        config_bytes: 900,
        snapshot_bytes: 0,
        sealed_secrets_bytes: 60,
      },
    },
    lease: { generation: 2, node: { id, is_alive: true, started_at: at, address: null, release: null } },
    state: {
      execution_status: "running",
      last_event_id: id,
      run: {
        began_seq: 2,
        began_at: at,
        model_answers: 1,
        wanted_by_seq: null,
        is_attended: false,
        retry_until: null,
      },
      approvals: { waiting: [], deadline: null },
      queued: [{ event_id: id, seq: 4, is_from_user: true, wants_run: true }],
      budget: { spent: 0.25, limit: 5 },
      branch: { leaf_event_id: id, navigations: 0 },
      goal: null,
      plan: null,
    },
    open_actions: [
      {
        action_id: id,
        seq: 3,
        tool_call_id: "call_1",
        tool_name: "terminal",
        is_waiting: false,
        execution: "started",
        started_at: at,
        ended_at: null,
      },
    ],
    execution_record: "here",
    parts: [],
    store: {
      log_number: 1,
      last_seq: 4,
      snapshot_seq: 2,
      checkpoint_seq: 0,
      indexed_seq: 4,
      machine: null,
      damages: [],
    },
    events: [
      { seq: 4, id, timestamp: at, kind: "MessageEvent", source: "user", summary: "Go on.", beside: [] },
    ],
    ...changes,
  };
}

function linesOf(found: Inspection): string[] {
  return inspectionSections(found).flatMap(({ heading, lines }) => [heading, ...lines]);
}

test("an inspection is sections of aligned lines", () => {
  expect(linesOf(inspection())).toEqual([
    `Conversation ${id}`,
    "  title         Mend the parser",
    "  owner         local",
    `  created       ${at}`,
    `  updated       ${at}`,
    "  status        running, resumes after a restart",
    "  model         openai/scripted",
    "  tools         terminal",
    "  directory     /srv/parser",
    "  confirmation  NeverConfirm",
    "  iterations    at most 500 in a run",
    "  sizes         4 events, 4.9 KiB, and 300 B beside them",
    "                configuration 900 B, snapshot 0 B, sealed secrets 60 B",
    "What it means",
    `  The call call_1 of terminal runs since ${at}.`,
    "Lease",
    `  held by       node ${id}`,
    "  node          alive",
    `  up since      ${at}`,
    "  generation    2",
    "State (the log, folded)",
    "  status        running",
    `  run           since event 2 at ${at}, 1 model answer`,
    "  approvals     none",
    "  queue         1 not read by the model",
    `                event 4 ${id}, asks for a run`,
    "  spent         0.2500 US dollars of 5",
    `  branch        ${id}`,
    "Open actions",
    "  terminal  call_1",
    `    event 3 ${id}`,
    `    started at ${at}`,
    "Store",
    "  log number    1",
    "  last event    4",
    "  snapshot      at event 2, 2 events behind",
    "  checkpoint    none yet",
    "  text index    at event 4, up to date",
    "  damage        none found",
    "Newest events (1 of 4)",
    "  4  19:40:02.123  user         Message          Go on.",
  ]);
});

test("no line is wider than 100 columns, and none drives a terminal, whatever the texts are", () => {
  const long = `\u001b[31m\u202e${"word ".repeat(80)}\n${"x".repeat(300)}`;
  const { row, store, open_actions: actions, events } = inspection();
  for (const text of [long, "試".repeat(300), "🙂".repeat(300)]) {
    const lines = linesOf(
      inspection({
        conclusions: [text],
        row: { ...row, title: text, owner_id: text, host: text },
        open_actions: actions.map((action) => ({ ...action, tool_name: text, tool_call_id: text })),
        store: { ...store, damages: Array.from({ length: 30 }, () => text) },
        events: events.map((event) => ({ ...event, kind: text, source: text, summary: text })),
      }),
    );
    for (const line of lines) {
      // A picture is two units of text and two columns; such a letter is one and two.
      expect(line.length + (line.match(/試/g)?.length ?? 0)).toBeLessThanOrEqual(inspectionWidth);
      // oxlint-disable-next-line no-control-regex -- what a terminal obeys
      expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
    expect(lines).toContain("    and 10 more (--json has all)");
  }
});

test("East Asian letters count as two columns", () => {
  const { row } = inspection();
  const [, title] = linesOf(inspection({ row: { ...row, title: "試".repeat(300) } }));
  expect(title).toBe(`  title         ${"試".repeat(41)}…`);
});

test("a conversation that cannot be read says where it is damaged", () => {
  const { row, store } = inspection();
  const lines = linesOf(
    inspection({
      state: null,
      open_actions: [],
      lease: { generation: 0, node: null },
      row: { ...row, config: null, sizes: { ...row.sizes, event_bytes: null } },
      store: { ...store, checkpoint_seq: null, damages: ["event 2 is gone or not what was written."] },
      events: [],
    }),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      "  model         (the configuration is damaged)",
      "  held by       nobody",
      "  Not available: an event of the log is damaged.",
      "  damage        1 found",
      "    event 2 is gone or not what was written.",
      "  none",
    ]),
  );
});

test("the row says which settings and which revisions of profiles its answers are of", () => {
  const found = inspection();
  const model = { id: "m", name: "fast", revision: 3, digest: "d", is_pinned: true };
  const config = {
    ...found.row.config!,
    settings_version: 7,
    settings_used: { settings_version: 7, agent_profile: null, model_profile: model },
  };
  const [row] = inspectionSections({ ...found, row: { ...found.row, config } });
  expect(row!.lines).toContain("  settings      version 7, model profile fast@3 (pinned)");
});
