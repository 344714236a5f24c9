export { parsePins, type UnreadChain } from "./parse-pins.ts";
