import type { Automation } from "@convoke/protocol";
import { expect, test } from "vitest";
import { fromAutomation, newDraft, toChange, toRequest } from "./automation-draft.ts";

const now = new Date(2026, 10, 28, 9, 30);
const zone = "Europe/Berlin";

const stored: Automation = {
  id: "11111111-1111-4111-8111-111111111111",
  name: "Triage",
  is_paused: false,
  trigger: { kind: "interval", every_seconds: 3_600, starts_at: "2026-11-01T00:00:00Z" },
  prompt: "Look at new issues.",
  conversation: {
    repository: { url: "https://git.example.com/team/service.git", ref: "main" },
    llm_profile: "fast",
    max_budget_per_task: 0.5,
    max_iterations: 40,
    wall: { network: { allow: ["example.com"] }, hide: [".env"] },
    tags: { team: "search" },
    confirmation_policy: { kind: "ConfirmRisky", threshold: "HIGH" },
  },
  approvals: { on_ask: "wait", timeout_seconds: 7_200, reviewer: null },
  overlap: { mode: "queue", max_queued: 3 },
  catch_up: { max_runs: 2, max_age_seconds: 600 },
  owner: "local",
  has_hook_secret: false,
  next_due_at: null,
  last_run: null,
  created_at: "2026-11-01T00:00:00Z",
  updated_at: "2026-11-01T00:00:00Z",
};

test("a new automation sends what its form says and leaves the rest to the settings", () => {
  const draft = { ...newDraft(now, zone), name: " Nightly ", prompt: "Check the build.\n" };
  expect(toRequest(draft, null)).toEqual({
    name: "Nightly",
    prompt: "Check the build.\n",
    trigger: { kind: "cron", expression: "0 9 * * *", time_zone: zone },
    conversation: {},
    approvals: { on_ask: "reject" },
    overlap: { mode: "skip" },
    catch_up: { max_runs: 1 },
  });
});

test("a place is a folder or a repository", () => {
  const of = (more: object) => toRequest({ ...newDraft(now, zone), ...more }, null).conversation;
  expect(of({ place: " /srv/app ", worktree: true })).toEqual({ working_dir: "/srv/app", worktree: true });
  expect(of({ place: "/srv/app", branch: "main" })).toEqual({ working_dir: "/srv/app" });
  expect(of({ place: "git@git.example.com:a/b.git", branch: "main", worktree: true })).toEqual({
    repository: { url: "git@git.example.com:a/b.git", ref: "main" },
  });
});

test("without a change nothing is sent, also of what the form does not show", () => {
  const draft = fromAutomation(stored, now, zone);
  expect(draft).toMatchObject({
    place: "https://git.example.com/team/service.git",
    branch: "main",
    network: "stored",
    ask: "",
    waitHours: "2",
    budget: "0.5",
  });
  expect(toChange(draft, draft, stored)).toEqual({});
});

test("a change sends its field alone, with what the form does not show", () => {
  const draft = fromAutomation(stored, now, zone);
  expect(toChange(draft, { ...draft, budget: "", network: "none", ask: "never" }, stored)).toEqual({
    conversation: {
      repository: { url: "https://git.example.com/team/service.git", ref: "main" },
      llm_profile: "fast",
      max_iterations: 40,
      wall: { network: "none", hide: [".env"] },
      tags: { team: "search" },
      confirmation_policy: { kind: "NeverConfirm" },
    },
  });
  expect(toChange(draft, { ...draft, onAsk: "reject", overlap: "replace" }, stored)).toEqual({
    approvals: { on_ask: "reject", reviewer: null },
    overlap: { mode: "replace", max_queued: 3 },
  });
});
