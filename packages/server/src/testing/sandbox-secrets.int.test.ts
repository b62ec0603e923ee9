import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AppConversation, AppConversationStartTask } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { CertificateAuthority } from "../egress/certificates/certificate-authority.ts";
import { runGitBackend } from "../egress/testing/run-git-backend.ts";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { ConvokeProcess } from "./convoke-process.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const pollOptions = { timeout: 100_000, interval: 20 };
const value = "value-of-the-token-outside";

/** Says what it gets as authorization, and has a repository for who has the token. */
async function openSite(root: string) {
  const authority = new CertificateAuthority();
  const logins: (string | undefined)[] = [];
  const isKnown = `Basic ${Buffer.from(`x-access-token:${value}`).toString("base64")}`;
  const site = createServer(authority.issue("127.0.0.1"), (request, response) => {
    const { authorization } = request.headers;
    if (!request.url!.startsWith("/shop.git")) {
      logins.push(authorization);
      return void response.end("known");
    }
    if (authorization === isKnown) return runGitBackend(root, request, response);
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    certificate: authority.certificate,
    logins,
    [Symbol.dispose]: () => void site.close(),
  };
}

test.skipIf(!probe.isUsable)(
  `a secret that is bound to a host is put into the requests of a sandbox, and is never in it (needs a working bubblewrap: ${probe.detail})`,
  { timeout: 300_000 },
  async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-trust-"));
    using site = await openSite(folder.path);
    const repository = join(folder.path, "shop.git");
    const run = promisify(execFile);
    await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository]);
    await run("git", ["-C", repository, "config", "http.receivepack", "true"]);
    const trusted = join(folder.path, "authority.pem");
    await writeFile(trusted, site.certificate);
    const get = {
      name: "terminal",
      arguments: {
        command: `curl -sS -m 20 --noproxy '' -H "Authorization: Bearer $TOKEN" https://${site.host}/; echo; echo "token is $TOKEN"`,
      },
    };
    const push = {
      name: "terminal",
      arguments: {
        command: `export NO_PROXY= no_proxy= GIT_TERMINAL_PROMPT=0; git clone --quiet https://${site.host}/shop.git && cd shop && git -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty -m one && git push --quiet origin HEAD:main && echo pushed; git ls-remote git@${site.host.split(":")[0]}:shop.git; env; cat /proc/[0-9]*/environ .git/config ~/.git* /run/convoke-egress/git* 2>/dev/null | tr '\\0' '\\n'`,
      },
    };
    const turn = [{ tool_calls: [get] }, { text: "Done." }];
    await using model = await startScriptedModel({
      script: {
        select: "in_order",
        turns: [{ tool_calls: [get] }, { tool_calls: [push] }, { text: "Done." }, ...turn],
      },
    });
    await using server = await ConvokeProcess.start({
      sandbox: "bubblewrap",
      environment: {
        NODE_EXTRA_CA_CERTS: trusted,
        CONVOKE_NETWORK: JSON.stringify({ allow: [site.host], private: ["127.0.0.1"] }),
      },
    });
    const llm = { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 };
    const set = await server.call("POST", "/api/settings", {
      llm_model: llm.model,
      llm_base_url: llm.base_url,
      llm_api_key: llm.api_key,
    });
    expect(set.status, set.text).toBe(200);
    const stored = await server.call("POST", "/api/secrets", { name: "TOKEN", value, hosts: [site.host] });
    expect(stored.status, stored.text).toBeLessThan(300);

    const asked = await server.call("POST", "/api/v1/app-conversations", {
      initial_message: { content: [{ type: "text", text: "Who am I there?" }], run: true },
    });
    expect(asked.status, asked.text).toBeLessThan(300);
    const { id: taskId } = asked.json as AppConversationStartTask;
    const taskOf = async () =>
      (
        (await server.call("GET", `/api/v1/app-conversations/start-tasks?ids=${taskId}`))
          .json as AppConversationStartTask[]
      )[0];
    await vi.waitUntil(async () => (await taskOf())?.status === "READY", pollOptions);
    const id = (await taskOf())?.app_conversation_id ?? "";
    const untilFinished = async (): Promise<void> => {
      const status = async () =>
        ((await server.call("GET", `/api/v1/app-conversations?ids=${id}`)).json as AppConversation[])[0]
          ?.execution_status;
      await vi.waitUntil(async () => (await status()) === "finished", pollOptions);
    };
    const log = async (): Promise<string> =>
      (await server.call("GET", `/api/v1/conversation/${id}/events/search`)).text;
    await vi.waitUntil(() => site.logins.length === 1, pollOptions);
    await untilFinished();
    expect(site.logins).toEqual([`Bearer ${value}`]);
    const shown = await log();
    expect(shown).toMatch(/token is \w/);
    expect(shown).not.toContain(value);
    expect(shown).toContain("pushed");
    expect(shown).toContain("git over ssh does not work");
    const { stdout } = await run("git", ["-C", repository, "log", "--format=%s", "main"]);
    expect(stdout).toBe("one\n");

    // The conversation has the same placeholder after a kill of the server.
    await server.end("SIGKILL");
    await server.restart();
    const again = { role: "user", content: [{ type: "text", text: "Again." }], run: true };
    const sent = await server.call("POST", `/api/conversations/${id}/events`, again);
    expect(sent.status, sent.text).toBeLessThan(300);
    await vi.waitUntil(() => site.logins.length === 2, pollOptions);
    expect(site.logins[1]).toBe(`Bearer ${value}`);
    expect(await log()).not.toContain(value);
  },
);
