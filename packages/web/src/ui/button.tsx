import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Variant = "primary" | "plain" | "quiet" | "danger" | "allow";

const classNames: Readonly<Record<Variant, string>> = {
  primary: "bg-accent-fill text-on-accent hover:brightness-110",
  allow: "bg-accent-fill text-on-accent hover:brightness-110",
  plain: "border border-line bg-canvas hover:bg-hover",
  quiet: "text-soft hover:bg-hover hover:text-ink",
  danger: "border border-line bg-canvas text-bad hover:bg-bad-wash",
};

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly variant?: Variant;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly children: ReactNode;
};

export function Button({ variant = "plain", className = "", type = "button", ...rest }: ButtonProps) {
  return (
    <button
      // eslint-disable-next-line react/button-has-type -- it has one, "button" unless another is given
      type={type}
      className={`inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-50 pointer-coarse:h-11 pointer-coarse:px-4 ${classNames[variant]} ${className}`}
      {...rest}
    />
  );
}

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "aria-label" | "title"> & {
  readonly label: string;
  readonly size?: "small" | "usual";
  readonly ref?: Ref<HTMLButtonElement>;
  readonly children: ReactNode;
};

/** An icon button; its name is its accessible label and tooltip. */
export function IconButton({
  label,
  size = "usual",
  className = "",
  type = "button",
  ...rest
}: IconButtonProps) {
  const box = size === "small" ? "size-6" : "size-7 pointer-coarse:size-11";
  return (
    <button
      // eslint-disable-next-line react/button-has-type -- it has one, "button" unless another is given
      type={type}
      aria-label={label}
      title={label}
      className={`inline-flex ${box} shrink-0 items-center justify-center rounded-md text-faint transition-colors hover:bg-hover hover:text-ink disabled:opacity-50 ${className}`}
      {...rest}
    />
  );
}
