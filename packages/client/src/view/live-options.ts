import type { FollowOptions } from "../follow.ts";

/** All that a screen shows of a conversation while it changes. */
export const liveOptions = {
  deltas: "items",
  progress: true,
  standing: true,
} as const satisfies FollowOptions;
