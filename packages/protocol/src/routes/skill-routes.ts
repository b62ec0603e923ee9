import {
  HooksRequest,
  HooksResponse,
  SkillsRequest,
  SkillsResponse,
  SyncResponse,
} from "../workspace/catalogue.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Skills and hooks of a workspace, as in the contract's document. */
export const skillRoutes = {
  ...routesOf("Skills", {
    listSkills: {
      method: "POST",
      path: "/api/skills",
      summary: "The skills that an agent in this directory would have",
      auth: true,
      body: SkillsRequest,
      responses: { ...ok("The skills, and how many each source gave.", SkillsResponse), ...invalid },
    },
    syncSkills: {
      method: "POST",
      path: "/api/skills/sync",
      summary: "Read the public skills again",
      auth: true,
      responses: ok("What came of it.", SyncResponse),
    },
  }),
  ...routesOf("Hooks", {
    loadHooks: {
      method: "POST",
      path: "/api/hooks",
      summary: "The hooks that a directory configures",
      auth: true,
      body: HooksRequest,
      responses: { ...ok("The hooks, or null.", HooksResponse), ...invalid },
    },
  }),
};
