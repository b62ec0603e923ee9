import { inject } from "vitest";
import { startProgramsFrom } from "../packages/server/src/testing/tested-programs.ts";

startProgramsFrom(inject("programs"));
