import type { ComponentType, SVGProps } from "react";

/** An icon of lucide: its elements, each with its attributes. */
type IconData = { readonly node: readonly (readonly [tag: string, attributes: Record<string, string>])[] };
type IconProps = SVGProps<SVGSVGElement> & { readonly size?: number };

/**
 * What the icons of lucide are made with here, in place of the library's own function (see `vite.config.ts`): that one is a kilobyte,
 * most of it for other frameworks and for settings that the page does not have.
 */
export default function createIcon({ node }: IconData): ComponentType<IconProps> {
  return function Icon({ size = 24, ...props }: IconProps) {
    return (
      <svg
        xmlns="http://www.w3.org/2000/svg"
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden={props["aria-label"] === undefined}
        {...props}
      >
        {node.map(([Tag, { key, ...attributes }]) => (
          <Tag key={key} {...attributes} />
        ))}
      </svg>
    );
  };
}
