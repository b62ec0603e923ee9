import type { CustomContainerComponentProps } from "virtua";

/**
 * The container of the virtual list. The library's own one disables pointer events while scrolling, which restyles
 * and repaints every element twice per line of a growing answer; this one does not.
 */
export function ListFrame({ style, children, ref }: CustomContainerComponentProps) {
  const { pointerEvents: _, ...shownStyle } = style;
  return (
    <div ref={ref} style={shownStyle}>
      {children}
    </div>
  );
}
