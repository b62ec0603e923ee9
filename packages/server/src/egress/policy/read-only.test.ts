import { expect, test } from "vitest";
import { type PutIn, readOnlyProblem, type RequestHead } from "./read-only.ts";

const nothing: PutIn = { headers: new Set(), elsewhere: false };
const problem = (head: Partial<RequestHead>, putIn: Partial<PutIn> = {}): string | null =>
  readOnlyProblem(
    { host: "github.com", method: "GET", path: "/", headers: [], isUpgrade: false, mayLogIn: false, ...head },
    { ...nothing, ...putIn },
  );
const fetchPack = [["Content-Type", "application/x-git-upload-pack-request"]] as const;
const audit = { method: "POST", path: "/-/npm/v1/security/advisories/bulk", host: "registry.npmjs.org" };

test.each<[string, Partial<RequestHead>]>([
  ["GET", {}],
  ["HEAD", { method: "HEAD" }],
  ["GET with an empty body", { headers: [["Content-Length", "0"]] }],
  ["the list for git fetch", { path: "/o/r.git/info/refs?service=git-upload-pack" }],
  ["git fetch", { method: "POST", path: "/o/r.git/git-upload-pack", headers: fetchPack }],
  ["npm audit", audit],
  ["an address of 4 KiB", { path: `/${"a".repeat(4_095)}` }],
])("%s passes", (_case, head) => {
  expect(problem(head)).toBeNull();
});

test.each<[string, Partial<RequestHead>, string]>([
  ["POST", { method: "POST" }, "POST is not allowed"],
  ["PUT", { method: "PUT" }, "PUT is not allowed"],
  ["an odd method", { method: "a b" }, "this method is not allowed"],
  ["OPTIONS", { method: "OPTIONS" }, "OPTIONS is not allowed"],
  ["GET with a body", { headers: [["Content-Length", "1"]] }, "GET must have no body"],
  ["GET in chunks", { headers: [["Transfer-Encoding", "chunked"]] }, "GET must have no body"],
  ["git push", { method: "POST", path: "/o/r.git/git-receive-pack" }, "POST is not allowed"],
  ["the list for git push", { path: "/o/r/info/refs?service=git-receive-pack" }, "git cannot push"],
  ["git fetch of another type", { method: "POST", path: "/o/r/git-upload-pack" }, "POST is not allowed"],
  ["npm audit elsewhere", { ...audit, host: "github.com" }, "POST is not allowed"],
  ["a long address", { path: `/${"a".repeat(4_096)}` }, "longer than 4096 bytes"],
  ["an upgrade", { isUpgrade: true }, "cannot be upgraded"],
  ["a changed method", { headers: [["X-HTTP-Method-Override", "PUT"]] }, "cannot change the method"],
  ["Authorization", { headers: [["Authorization", "Bearer x"]] }, "the header Authorization has credentials"],
  ["Cookie", { headers: [["cookie", "a=b"]] }, "the header cookie has credentials"],
  ["PRIVATE-TOKEN", { headers: [["PRIVATE-TOKEN", "x"]] }, "the header PRIVATE-TOKEN has credentials"],
  ["a token in the query", { path: "/?private_token=x" }, "the query has credentials"],
  ["a token whose name is encoded", { path: "/?a=1&private%5Ftoken=x" }, "the query has credentials"],
  ["a token behind a semicolon", { path: "/?a=1;access_token=x" }, "the query has credentials"],
  ["an encoded list for git push", { path: "/o/r/info/refs?service=git%2Dreceive-pack" }, "git cannot push"],
])("%s is refused", (_case, head, sentence) => {
  expect(problem(head)).toContain(sentence);
});

test("git may ask to push where a secret is bound, because it logs in at the second request", () => {
  const path = "/o/r/info/refs?service=git-receive-pack";
  expect(problem({ path, mayLogIn: true })).toBeNull();
  expect(problem({ method: "POST", path: "/o/r/git-receive-pack", mayLogIn: true })).toContain(
    "POST is not allowed",
  );
});

test("a secret of ours as credential lifts the rules, and no foreign one beside it", () => {
  const headers = [["Authorization", "Bearer ours"]] as const;
  const ours = { headers: new Set(["authorization"]) };
  expect(problem({ method: "POST", headers }, ours)).toBeNull();
  expect(problem({ isUpgrade: true, headers }, ours)).toBeNull();
  expect(problem({ method: "POST", headers: [...headers, ["Cookie", "a=b"]] }, ours)).toContain("Cookie");
  expect(
    problem({ method: "POST", headers: [...headers, ["authorization", "x"]] }, { headers: new Set() }),
  ).toContain("credentials");
  expect(problem({ method: "POST" }, { headers: new Set(["x-other"]) })).toContain("POST is not allowed");
  expect(problem({ method: "POST", path: "/?token=ours" }, { elsewhere: true })).toBeNull();
});
