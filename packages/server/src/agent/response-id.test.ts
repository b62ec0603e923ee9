import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { ModelResponse } from "../models/model.ts";
import { idsUsedBy, withOwnId } from "./response-id.ts";

test("an id that an answer has, with a mark or without, is not given to another one", () => {
  const answers = ["a", "b~1", "c~1~2"].map((id) => ({ kind: "MessageEvent", llm_response_id: id }) as Event);
  const used = new Set(answers.flatMap(idsUsedBy));
  const own = (id: string): string => withOwnId({ id } as ModelResponse, used).id;
  expect(["d", "b~", "c~2"].map(own)).toEqual(["d", "b~", "c~2"]);
  for (const id of ["a", "b", "b~1", "c", "c~1", "c~1~2"]) expect(own(id)).toMatch(`${id}~`);
  expect(idsUsedBy({ kind: "PauseEvent" })).toEqual([]);
});
