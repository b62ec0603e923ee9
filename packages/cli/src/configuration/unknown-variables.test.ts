import { expect, test } from "vitest";
import { describeUnknownVariables } from "./unknown-variables.ts";

test("a variable with our prefix that means nothing is named, with the one that was probably meant", () => {
  const environment = {
    CONVOKE_PROT: "1",
    CONVOKE_PORT: "1",
    CONVOKE_COLOR_OF_HOUSE: "1",
    CONVOKE_SECRET_KEY_FILE: "f",
    CONVOKE_PORT_FILE: "f",
    CONVOKE_CONFIG: "c",
    OTHER: "1",
  };
  expect(describeUnknownVariables(environment)).toEqual([
    "CONVOKE_COLOR_OF_HOUSE is no setting, so it has no effect.",
    "CONVOKE_PORT_FILE is no setting, so it has no effect.",
    "CONVOKE_PROT is no setting, so it has no effect. Did you mean CONVOKE_PORT?",
  ]);
});
