import { ApiError } from "@convoke/client";
import { expect, test } from "vitest";
import { errorOf, noProblem, toProblem } from "./field-errors.ts";

const refused = (...locs: (string | number)[][]) =>
  new ApiError(
    422,
    "Not valid.",
    "validation",
    locs.map((loc) => ({ loc: ["body", ...loc], msg: `At ${loc.join(".")}.`, type: "value_error" })),
  );

test("an error is beside its field, also with the variant of a union or a place of a list in its path", () => {
  const problem = toProblem(refused(["trigger", "cron", "expression"], ["trigger", "events", 3]));
  expect(errorOf(problem, "expression")).toBe("At trigger.cron.expression.");
  expect(errorOf(problem, "events")).toBe("At trigger.events.3.");
  expect(errorOf(problem, "name")).toBeUndefined();
  expect(problem.rest).toBeNull();
});

test("what has no field in the form is in the text above", () => {
  const problem = toProblem(refused(["name"], ["conversation", "tags"]));
  expect(problem.rest).toBe("body.conversation.tags: At conversation.tags.");
  expect(toProblem(new Error("The server is away."))).toEqual({ fields: [], rest: "The server is away." });
  expect(errorOf(noProblem, "prompt")).toBeUndefined();
});
