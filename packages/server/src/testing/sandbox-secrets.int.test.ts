import { once } from "node:events";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppConversation, AppConversationStartTask } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { CertificateAuthority } from "../egress/certificates/certificate-authority.ts";
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

/** Says what it gets as authorization. */
async function openSite() {
  const authority = new CertificateAuthority();
  const logins: (string | undefined)[] = [];
  const site = createServer(authority.issue("127.0.0.1"), ({ headers }, response) => {
    logins.push(headers.authorization);
    response.end("known");
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
    using site = await openSite();
    await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-trust-"));
    const trusted = join(folder.path, "authority.pem");
    await writeFile(trusted, site.certificate);
    const get = {
      name: "terminal",
      arguments: {
        command: `curl -sS -m 20 --noproxy '' -H "Authorization: Bearer $TOKEN" https://${site.host}/; echo; echo "token is $TOKEN"`,
      },
    };
    const turn = [{ tool_calls: [get] }, { text: "Done." }];
    await using model = await startScriptedModel({
      script: { select: "in_order", turns: [...turn, ...turn] },
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
