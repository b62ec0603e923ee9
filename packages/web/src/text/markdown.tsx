import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import { parseMarkdown, safeAddress } from "@convoke/client/markdown";

/**
 * An agent's text as Markdown. A finished block is not rendered again while the text grows, so that a selection in
 * it stays. HTML tags are shown as text. Images are not loaded: they are links.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const blocks = parseMarkdown(text);
  return (
    <div className="prose">
      {inGroups(blocks).map((group, index, groups) => (
        <Group
          // Blocks are only appended, so the index is a stable key.
          // eslint-disable-next-line react/no-array-index-key
          key={index}
          blocks={group}
          top={index === 0 ? (marginsOf[group[0]!.type]?.[0] ?? "") : ""}
          bottom={index === groups.length - 1 ? (marginsOf[group.at(-1)!.type]?.[1] ?? "") : ""}
        />
      ))}
    </div>
  );
});

const groupSize = 8;

/** Take back the margins above the first block and below the last one; what is not named has none. */
const marginsOf: Readonly<Record<string, readonly [top: string, bottom: string]>> = {
  heading: ["-mt-[0.9rem]", "-mb-[0.3rem]"],
  hr: ["-mt-[0.9rem]", "-mb-[0.9rem]"],
  paragraph: ["-mt-[0.45rem]", "-mb-[0.45rem]"],
  list: ["-mt-[0.45rem]", "-mb-[0.45rem]"],
  blockquote: ["-mt-[0.45rem]", "-mb-[0.45rem]"],
  html: ["-mt-[0.45rem]", "-mb-[0.45rem]"],
};

function inGroups(blocks: readonly Token[]): readonly (readonly Token[])[] {
  const groups: (readonly Token[])[] = [];
  for (let from = 0; from < blocks.length; from += groupSize)
    groups.push(blocks.slice(from, from + groupSize));
  return groups;
}

type GroupProps = { readonly blocks: readonly Token[]; readonly top: string; readonly bottom: string };

/** A group of blocks in its own stacking context, so that the browser reuses its painting while later blocks grow. */
const Group = memo(
  function Group({ blocks, top, bottom }: GroupProps) {
    return (
      <div className={`isolate ${top} ${bottom}`}>
        {blocks.map((block, index) => (
          // eslint-disable-next-line react/no-array-index-key
          <Block key={index} block={block} />
        ))}
      </div>
    );
  },
  ({ blocks: before, ...edges }, { blocks: after, top, bottom }) =>
    edges.top === top &&
    edges.bottom === bottom &&
    before.length === after.length &&
    before.every((block, index) => isSame(block, after[index]!)),
);

const Block = memo(
  function Block({ block }: { readonly block: Token }) {
    return drawBlock(block);
  },
  (before, after) => isSame(before.block, after.block),
);

function isSame(before: Token, after: Token): boolean {
  return before.raw === after.raw && before.type === after.type;
}

function drawBlock(token: Token): ReactNode {
  switch (token.type) {
    case "heading":
      return drawHeading(token as Tokens.Heading);
    case "paragraph":
      return <p>{drawInline(token)}</p>;
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "blockquote":
      return <blockquote>{drawBlocks(token)}</blockquote>;
    case "list":
      return drawList(token as Tokens.List);
    case "table":
      return drawTable(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "text":
      return drawInline(token);
    default:
      return <p>{token.raw}</p>;
  }
}

function drawBlocks(token: Token): ReactNode {
  const children = "tokens" in token ? (token.tokens ?? []) : [];
  // eslint-disable-next-line react/no-array-index-key
  return children.map((child, index) => <Fragment key={index}>{drawBlock(child)}</Fragment>);
}

/** Headings of a message come below the page's own levels. */
function drawHeading(token: Tokens.Heading): ReactNode {
  const children = drawInline(token);
  if (token.depth <= 2) return <h3>{children}</h3>;
  return token.depth === 3 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function drawList(list: Tokens.List): ReactNode {
  const items = list.items.map((item, index) => (
    // eslint-disable-next-line react/no-array-index-key
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && (
        <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-hidden="true" />
      )}
      {drawBlocks(item)}
    </li>
  ));
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function drawTable(table: Tokens.Table): ReactNode {
  return (
    <div
      className="overflow-x-auto"
      role="region"
      tabIndex={0}
      aria-label={table.header.map(({ text }) => text).join(", ")}
    >
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // eslint-disable-next-line react/no-array-index-key
              <th key={index}>{drawInline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, rowIndex) => (
            // eslint-disable-next-line react/no-array-index-key
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                // eslint-disable-next-line react/no-array-index-key
                <td key={index}>{drawInline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawInline(token: Token | Tokens.TableCell): ReactNode {
  const children = "tokens" in token ? token.tokens : undefined;
  if (children === undefined) return "text" in token ? token.text : "";
  // eslint-disable-next-line react/no-array-index-key
  return children.map((child, index) => <Fragment key={index}>{drawSpan(child)}</Fragment>);
}

function drawSpan(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{drawInline(token)}</strong>;
    case "em":
      return <em>{drawInline(token)}</em>;
    case "del":
      return <del>{drawInline(token)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "link":
      return drawLink((token as Tokens.Link).href, drawInline(token), token.raw);
    case "image":
      return drawLink(
        (token as Tokens.Image).href,
        (token as Tokens.Image).text || (token as Tokens.Image).href,
        token.raw,
      );
    case "text":
      return "tokens" in token && token.tokens !== undefined
        ? drawInline(token)
        : (token as Tokens.Text).text;
    default:
      return token.raw;
  }
}

function drawLink(address: string, label: ReactNode, raw: string): ReactNode {
  const safe = safeAddress(address);
  if (safe === null) return raw;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer" title={safe}>
      {label}
    </a>
  );
}
