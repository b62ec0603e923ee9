import { expect, test } from "vitest";
import { keepingDe } from "../words/keeping-de.ts";
import { keepingEn } from "../words/keeping-en.ts";
import { describeFacts, describeStay } from "./describe-match.ts";

const facts = { age_days: 34.24, unused_days: 1.5, tag: { key: "state", value: "done" }, size_mib: 1200 };

test("what a rule found and why a conversation stays is said in the language of the page", () => {
  const [en, de] = [keepingEn.retention, keepingDe.retention];
  expect(describeFacts(facts, en, "en")).toBe(
    "34.2 days old, unused for 1.5 days, tag state: done, 1,200 MiB",
  );
  expect(describeFacts(facts, de, "de")).toBe(
    "34,2 Tage alt, seit 1,5 Tagen unbenutzt, Tag state: done, 1.200 MiB",
  );
  expect(describeFacts({}, de, "de")).toBe("");
  expect(describeStay("held", "audit 7", de)).toBe("gesperrt: audit 7");
  expect(describeStay("held", "", en)).toBe("on hold");
  expect(describeStay("waiting_for_confirmation", null, de)).toBe("wartet auf Freigabe");
});
