import { expect, test } from "vitest";
import { foreignLoads, policyOf } from "./page-policy.ts";

test("the policy allows each inline script once, by its hash, and no other one", () => {
  const page = `<script id="a">alert(1)</script><script src="/docs/app.js"></script><script type="module">1</script>`;
  const [, scripts] = policyOf([page, page]).split("; ");
  expect(scripts).toBe(
    "script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='",
  );
});

test("what a file loads from another origin is found; a link that a reader may follow is none", () => {
  const html = `<a href="https://example.org">x</a><script src="https://cdn.example/a.js"></script><link rel="x" href="//fonts.example/f">`;
  expect(foreignLoads("a.html", html)).toEqual(["https://cdn.example/a.js", "//fonts.example/f"]);
  expect(
    foreignLoads("a.css", `a{background:url(https://x.example/p.png)}b{background:url(data:x)}`),
  ).toEqual(["https://x.example/p.png"]);
  expect(foreignLoads("a.js", `import("https://x.example/m.js");import("./a.js")`)).toEqual([
    "https://x.example/m.js",
  ]);
});
