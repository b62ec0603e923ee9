import { expect, test } from "vitest";
import { FollowEnd } from "./follow-end.ts";

const at = (offset: number, whole = 1_000) => ({ offset, viewport: 400, whole });

test("J9: a small move upwards lets go, and coming near the end again takes hold", () => {
  const follow = new FollowEnd();
  follow.scrolled(at(600));
  expect(follow.isFollowing).toBe(true);
  follow.scrolled(at(590));
  expect(follow.isFollowing).toBe(false);
  follow.scrolled(at(595));
  expect(follow.isFollowing).toBe(true);
});

test("J9: what comes does not take hold of who reads above", () => {
  const follow = new FollowEnd();
  follow.scrolled(at(600));
  follow.pause();
  follow.scrolled(at(300));
  follow.scrolled(at(300, 2_000));
  expect(follow.isFollowing).toBe(false);
});

test("a page that becomes shorter at its end is still followed", () => {
  const follow = new FollowEnd();
  follow.scrolled(at(600));
  follow.scrolled(at(500, 900));
  expect(follow.isFollowing).toBe(true);
});
