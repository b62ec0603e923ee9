/** Styles that the bundler loads with whoever imports them. */
declare module "@xterm/xterm/css/xterm.css";
