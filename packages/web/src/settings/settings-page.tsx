import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { useMoreWords, useWords } from "../words/words.ts";
import { AgentSection } from "./agent-section.tsx";
import { ApprovalsSection } from "./approvals-section.tsx";
import { HooksSection } from "./hooks-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { AppearanceSection } from "./appearance-section.tsx";
import { McpSection } from "./mcp-section.tsx";
import { ModelsSection } from "./models-section.tsx";
import { NotificationsSection } from "./notifications-section.tsx";
import { PluginsSection } from "./plugins-section.tsx";
import { RetentionSection } from "./retention-section.tsx";
import { SecretsSection } from "./secrets-section.tsx";
import { ServerSection } from "./server-section.tsx";
import { SkillsSection } from "./skills-section.tsx";
import { SpendingSection } from "./spending-section.tsx";
import { WebhooksSection } from "./webhooks-section.tsx";

const sections = {
  models: ModelsSection,
  agent: AgentSection,
  approvals: ApprovalsSection,
  secrets: SecretsSection,
  mcp: McpSection,
  skills: SkillsSection,
  plugins: PluginsSection,
  hooks: HooksSection,
  spending: SpendingSection,
  retention: RetentionSection,
  keys: KeysSection,
  webhooks: WebhooksSection,
  look: AppearanceSection,
  notifications: NotificationsSection,
  server: ServerSection,
} as const;

type SectionName = keyof typeof sections;

const names = Object.keys(sections) as SectionName[];

export default function SettingsPage({ section }: { readonly section: string }) {
  const title = useWords().rail.settings;
  const words = useMoreWords().settings;
  const current = names.find((name) => name === section) ?? "models";
  const Section = sections[current];
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On phones the tabs are in a scrollable row.
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [current]);
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-[60rem] gap-8 px-5 py-5 max-[720px]:block max-[720px]:px-3">
        <nav aria-label={title} className="w-48 shrink-0 max-[720px]:mb-4 max-[720px]:w-auto">
          <h1 className="mb-3 text-xl font-semibold">{title}</h1>
          <ul ref={list} className="-mx-2 max-[720px]:flex max-[720px]:overflow-x-auto">
            {names.map((name) => (
              <li key={name}>
                <Link
                  href={`/settings/${name}`}
                  aria-current={name === current ? "page" : undefined}
                  className="block rounded-md px-2 py-1 whitespace-nowrap text-soft hover:bg-hover aria-[current=page]:bg-hover aria-[current=page]:text-ink pointer-coarse:py-2.5"
                >
                  {words.sections[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <section aria-label={words.sections[current]} className="min-w-0 grow">
          <h2 className="mb-1 text-lg font-semibold">{words.sections[current]}</h2>
          <Section />
        </section>
      </div>
    </div>
  );
}
