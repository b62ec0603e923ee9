/** What is loaded of the library with the first archive. */
export { Zip } from "fflate";
