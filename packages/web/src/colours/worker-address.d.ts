/** Vite emits such a module as a file; this is its URL. */
declare module "*?worker&url" {
  const address: string;
  export default address;
}
