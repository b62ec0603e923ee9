import type { ReactNode } from "react";
import { useMoreWords } from "../words/words.ts";
import type { Preview } from "./source-actions.ts";

type SourcePreviewProps = { readonly preview: Preview; readonly children: ReactNode };

/** What a skill or plugin is, what it would bring, and what to know before it is used. */
export function SourcePreview({ preview, children }: SourcePreviewProps) {
  const words = useMoreWords().settings.sources;
  const { name, version, description, resolved_ref: commit, warnings = [], files = [] } = preview;
  return (
    <section aria-label={name} className="mt-4 rounded-md border border-line p-3">
      <h4 className="font-medium break-words">
        {name} <span className="text-xs font-normal text-faint">{version}</span>
      </h4>
      <p className="mb-2 text-sm break-words text-soft">{description}</p>
      {commit && <p className="mb-2 font-mono text-xs break-all text-faint">{words.pinned(commit)}</p>}
      {warnings.length > 0 && (
        <ul className="mb-2 list-disc pl-5 text-sm">
          {warnings.map(({ code, detail }) => (
            <li key={code + detail} className="break-words">
              {detail}
            </li>
          ))}
        </ul>
      )}
      {"content" in preview ? (
        <pre className="mb-2 max-h-60 overflow-auto rounded-md bg-hover p-2 text-xs whitespace-pre-wrap">
          {preview.content}
        </pre>
      ) : (
        <>
          <Group title={words.skills} lines={preview.skills} />
          <Group title={words.commands} lines={preview.commands.map((command) => `/${command}`)} />
          <Group title={words.agents} lines={(preview.agents ?? []).map((agent) => agent.name)} />
          <Group
            title={words.hooks}
            lines={(preview.hooks ?? []).map(({ event, matcher, runs }) => `${event} ${matcher}: ${runs}`)}
          />
          <Group
            title={words.servers}
            lines={(preview.mcp_servers ?? []).map((server) => `${server.name}: ${server.target}`)}
          />
        </>
      )}
      {files.length > 0 && (
        <details className="mb-3 text-xs">
          <summary className="cursor-pointer py-1 text-soft">{words.files(files.length)}</summary>
          <ul className="max-h-60 overflow-auto font-mono text-faint">
            {files.map(({ path, is_executable: canRun }) => (
              <li key={path} className="break-all">
                {path}
                {canRun ? ` ${words.program}` : ""}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className="flex gap-2">{children}</div>
    </section>
  );
}

function Group({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <p className="mb-1 text-sm break-words">
      <span className="mr-2 text-faint">{title}</span>
      {lines.join(", ")}
    </p>
  );
}
