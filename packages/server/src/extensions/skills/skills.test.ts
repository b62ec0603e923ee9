import { Readable } from "node:stream";
import { WorkspaceError } from "@convoke/tool-host";
import { describe, expect, test } from "vitest";
import { readSubAgents } from "../sub-agents/read-sub-agents.ts";
import { findSubAgents } from "../sub-agents/sub-agent-set.ts";
import { loadProjectSkills } from "./load-skills.ts";
import { openSkillSet } from "./open-skill-set.ts";
import { parseSkill } from "./parse-skill.ts";
import { locationOf, SkillSet } from "./skill-set.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** A tree of texts by absolute path. */
function treeOf(tree: Readonly<Record<string, string>>): WorkspaceFiles {
  const isFolder = (path: string): boolean => Object.keys(tree).some((file) => file.startsWith(`${path}/`));
  const missing = (path: string): WorkspaceError => new WorkspaceError("not-found", `${path} is not there.`);
  const stat = async (path: string) => {
    if (!Object.hasOwn(tree, path) && !isFolder(path)) throw missing(path);
    const type = Object.hasOwn(tree, path) ? ("file" as const) : ("directory" as const);
    return { type, sizeBytes: tree[path]?.length ?? 0, modifiedAtMs: 0 };
  };
  return {
    stat,
    readFile: async (path, range) => {
      if (tree[path] === undefined) throw missing(path);
      const content = Readable.from([Buffer.from(tree[path]).subarray(0, (range?.end ?? Infinity) + 1)]);
      return { stat: await stat(path), content };
    },
    list: async (path) => {
      if (!isFolder(path)) throw missing(path);
      const names = Object.keys(tree).flatMap((file) =>
        file.startsWith(`${path}/`) ? [file.slice(path.length + 1).split("/")[0]!] : [],
      );
      const unique = [...new Set(names)].sort();
      return unique.map((name) => ({
        name,
        type: Object.hasOwn(tree, `${path}/${name}`) ? ("file" as const) : ("directory" as const),
      }));
    },
  };
}

const git = { "/repo/.git/HEAD": "ref" };

describe("what a project brings", () => {
  test("instructions of the directory and the repository, and skills of every folder; what is nearer wins", async () => {
    const files = treeOf({
      ...git,
      "/repo/AGENTS.md": "Root notes.",
      "/repo/CLAUDE.md": "For Claude.",
      "/repo/pkg/AGENTS.md": "Package notes.",
      "/repo/pkg/.agents/skills/deploy/SKILL.md":
        "---\nname: deploy\ndescription: How to deploy.\n---\nRun it.",
      "/repo/.openhands/skills/deploy.md": "other",
      "/repo/.openhands/microagents/git.md": "---\ntriggers: [git, merge]\n---\nUse git well.",
      "/repo/.openhands/microagents/README.md": "not a skill",
    });
    const { skills, problems } = await loadProjectSkills(files, "/repo/pkg");
    expect(problems).toEqual([]);
    const read = skills.map(({ name, content }) => [name, content] as const);
    expect(read.toSorted(([left], [right]) => (left < right ? -1 : 1))).toEqual([
      ["agents", "Package notes."],
      ["claude", "For Claude."],
      ["deploy", "Run it."],
      ["git", "Use git well."],
    ]);
  });

  test("a broken file is reported as a problem, and the others are read", async () => {
    const files = treeOf({
      "/w/.agents/skills/a/SKILL.md": "---\nname: [\n---\nx",
      "/w/.agents/skills/b/SKILL.md": "---\nname: other\n---\nx",
      "/w/.agents/skills/c/SKILL.md": "---\n- list\n---\nx",
      "/w/.agents/skills/big.md": "x".repeat(70_000),
      "/w/.agents/skills/fine.md": "Fine.",
    });
    const { skills, problems } = await loadProjectSkills(files, "/w");
    expect(skills.map(({ name }) => name)).toEqual(["fine"]);
    expect(problems.map(({ path }) => path.split("/").slice(4).join("/")).sort()).toEqual([
      "a/SKILL.md",
      "b/SKILL.md",
      "big.md",
      "c/SKILL.md",
    ]);
  });

  test("an alias bomb in the head costs nothing", async () => {
    const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n---\nx`;
    expect(await parseSkill({ path: "/w/x.md", text: bomb, isCut: false })).toMatchObject({ ok: false });
  });

  test("nothing of the workspace can be read: the conversation has what came with it", async () => {
    const files: WorkspaceFiles = {
      list: () => Promise.reject(new Error("gone")),
      readFile: () => Promise.reject(new Error("gone")),
      stat: () => Promise.reject(new Error("gone")),
    };
    const given = { name: "given", content: "Given." };
    const skillSet = await openSkillSet(
      { skills: [given] },
      { workspace: { files, workingDir: "/w" }, server: null },
    );
    expect(skillSet.skills).toEqual([given]);
  });

  test("client 7: a skill that a client read from a file says where its files are, if they are here", async () => {
    const files = treeOf({ "/skills/frob/SKILL.md": "Turn it.", "/skills/frob/turn.py": "" });
    const skill = (name: string, source: string | null) => ({
      name,
      content: "Run turn.py.",
      source,
      is_agentskills_format: true,
    });
    const skills = [
      skill("frob", "/skills/frob/SKILL.md"),
      skill("away", "/elsewhere/away/SKILL.md"),
      skill("named", "github.com/somebody/skills"),
      skill("none", null),
    ];
    const skillSet = await openSkillSet({ skills }, { workspace: { files, workingDir: "/w" }, server: null });
    expect(skillSet.skills.map((one) => locationOf(one).trim())).toEqual([
      "Files that these notes mention are below /skills/frob.",
      "",
      "",
      "",
    ]);
  });

  test("the project wins over what was given; disabled skills are left out; clients 0: every source only when asked for", async () => {
    const files = treeOf({
      "/w/.agents/skills/one.md": "project",
      "/home/.agents/skills/mine.md": "mine",
      "/public/all.md": "all",
    });
    const places = {
      workspace: { files, workingDir: "/w" },
      server: { files, home: "/home", publicFolder: "/public" },
    };
    const skills = [
      { name: "one", content: "given" },
      { name: "two", content: "given" },
    ];
    for (const context of [null, {}, { load_project_skills: false }])
      expect((await openSkillSet(context, places)).skills).toEqual([]);
    const project = { load_project_skills: true };
    const few = await openSkillSet({ skills, disabled_skills: ["two"], ...project }, places);
    expect(few.skills.map(({ content }) => content)).toEqual(["project"]);
    const all = await openSkillSet({ load_user_skills: true, load_public_skills: true, ...project }, places);
    expect(all.skills.map(({ name }) => name)).toEqual(["one", "mine", "all"]);
  });
});

describe("what a conversation makes of it", () => {
  const skillSet = new SkillSet([
    { name: "agents", content: "Be kind." },
    { name: "gemini", content: "For Gemini." },
    { name: "git", content: "Git notes.", trigger: { keywords: ["git", "/merge"] } },
    {
      name: "fix",
      content: "Fix it.",
      trigger: { type: "task", triggers: ["/fix"] },
      inputs: [{ name: "issue", description: "Its number." }],
    },
    { name: "deploy", content: "Deploy notes.", description: "How to deploy.", is_agentskills_format: true },
  ]);

  test.each([
    ["use git here", ["git"]],
    ["GIT!", ["git"]],
    ["look at github", []],
    ["please /merge", ["git"]],
    ["/fix and git", ["git", "fix"]],
    ["digits git2", []],
  ])("%j brings up %j", (text, names) => {
    expect(skillSet.activate(text, new Set()).names).toEqual(names);
  });

  test("once is enough, and a task asks for its inputs", () => {
    expect(skillSet.activate("git", new Set(["git"])).names).toEqual([]);
    expect(skillSet.activate("/fix", new Set()).texts[0]).toContain("- issue: Its number.");
  });

  test("instructions go into the prompt in full, skills by name only, and a family's notes to that family", () => {
    const prompt = skillSet.promptBlocks("anthropic/claude").join("\n");
    expect(prompt).toContain("Be kind.");
    expect(prompt).toContain("- deploy: How to deploy.");
    expect(prompt).not.toContain("Deploy notes.");
    expect(prompt).not.toContain("For Gemini.");
    expect(skillSet.promptBlocks("gemini/pro").join("\n")).toContain("For Gemini.");
    expect(new SkillSet([]).promptBlocks("m")).toEqual([]);
  });
});

describe("what a workspace costs the server", () => {
  test("security 5: endless heads, or heads with thousands of keys, are cut off; the other skills are read", async () => {
    const keys = Array.from({ length: 700 }, (_, at) => `k${at}: 1`).join("\n");
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `/repo/.agents/skills/many${at}.md`,
        `---\n${keys}\ntriggers: [word]\n---\nText`,
      ]),
    );
    const before = process.threadCpuUsage();
    const { skills, problems } = await loadProjectSkills(
      treeOf({
        ...git,
        ...many,
        "/repo/.agents/skills/a-good.md": "---\ntriggers: [word]\n---\nText",
        // The reader of YAML needs for ever for these few characters.
        "/repo/.agents/skills/endless.md": `---\n${"? ".repeat(500)}\n---\nText`,
        "/repo/.agents/skills/long.md": `---\ndescription: ${"x".repeat(9_000)}\n---\nText`,
      }),
      "/repo",
    );
    const usedMs = process.threadCpuUsage(before).user / 1000;
    expect(skills.map(({ name }) => name)).toContain("a-good");
    expect(problems).toContainEqual({
      path: "/repo/.agents/skills/endless.md",
      reason: "The head takes too long to be read.",
    });
    expect(problems).toContainEqual({
      path: "/repo/.agents/skills/long.md",
      reason: "The head is longer than 8 KiB.",
    });
    expect(usedMs).toBeLessThan(5_000);
  });

  test("security 5: other work goes on between two files", async () => {
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const files = Array.from({ length: 20 }, (_, at) => [
      `/repo/.agents/skills/s${at}.md`,
      "---\na: 1\n---\nText",
    ]);
    await loadProjectSkills(treeOf({ ...git, ...Object.fromEntries(files) }), "/repo");
    isOver = true;
    expect(rounds).toBeGreaterThanOrEqual(20);
  });

  test("security 5: a description full of openings is read once", async () => {
    const description = "<example>one</example> <example> two </example>" + "<example>".repeat(500);
    const agents = await readSubAgents(
      treeOf({ "/repo/.agents/agents/a.md": `---\ndescription: "${description}"\n---\nDo it` }),
      "/repo",
      "project",
    );
    expect(agents[0]?.when_to_use_examples).toEqual(["one", "two"]);
  });

  test("issue 11.5: hooks of a person's file are theirs where tools run on their machine, and no project's", async () => {
    const hooked = "---\nhooks: {stop: [{hooks: [{command: ls}]}]}\n---\nDo it";
    const files = treeOf({ "/home/.agents/agents/a.md": hooked, "/w/.agents/agents/b.md": hooked });
    const places = { workspace: { files, workingDir: "/w" }, server: { files, home: "/home" } };
    const refused = async (isHere: boolean): Promise<string[]> =>
      (await findSubAgents({ ...places, isHere })).flatMap(({ name, refusal }) => (refusal ? [name] : []));
    expect(await refused(true)).toEqual(["b"]);
    expect((await refused(false)).toSorted()).toEqual(["a", "b"]);
  });

  test("security 20: thousands of words are looked for in a long message in no time", () => {
    const skill = (name: string, keywords: string[]) => ({
      name,
      content: "x",
      trigger: { type: "keyword" as const, keywords },
    });
    const words = Array.from({ length: 10_000 }, (_, at) => `${"a".repeat(50)}${at}`);
    const skillSet = new SkillSet([
      ...Array.from({ length: 50 }, (_, at) => skill(`s${at}`, words)),
      skill("git", ["Git"]),
    ]);
    const before = process.threadCpuUsage();
    expect(skillSet.activate("a".repeat(2_000_000), new Set()).names).toEqual([]);
    expect(process.threadCpuUsage(before).user).toBeLessThan(3_000_000);
    const few = new SkillSet([skill("git", ["Git"])]);
    expect(few.activate("look at github", new Set()).names).toEqual([]);
    expect(few.activate("github, then GIT.", new Set()).names).toEqual(["git"]);
  });
});
