import type { CustomContainerComponentProps } from "virtua";

/**
 * What the virtual list puts its rows into. It takes pointer events away there while it is scrolled, which gives every element
 * in it its style anew and paints it all again, twice each time an answer grows by a line: that is left out.
 */
export function ListFrame({ style, children, ref }: CustomContainerComponentProps) {
  const { pointerEvents: _, ...shownStyle } = style;
  return (
    <div ref={ref} style={shownStyle}>
      {children}
    </div>
  );
}
