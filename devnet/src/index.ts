export { devTokenAbi } from "./dev-contract-abi.ts";
export { connectDevnetChain, type DevnetChain } from "./devnet-chain.ts";
export type { DevnetKeys } from "./devnet-keys.ts";
export { movePrice, type PriceMove } from "./move-price.ts";
export { type FeedReading, readFeeds, refreshFeeds } from "./refresh-feeds.ts";
export { type Devnet, startDevnet } from "./start-devnet.ts";
export { startTestChains, type TestChain, type TestChains } from "./start-test-chains.ts";
export { quoterAbi, routerAbi } from "./uniswap-abi.ts";
