export { callMany } from "./call-many.ts";
export { cctpAttesterKeys, cctpOf, type DevCctp } from "./cctp/add-cctp.ts";
export { type DevIris, type IrisMood, type IrisService, startIris } from "./cctp/start-iris.ts";
export { uniswapInitCode } from "./deploy-uniswap.ts";
export { devFeedAbi, devTokenAbi } from "./dev-contract-abi.ts";
export { connectDevnetChain, type DevnetChain, type TestChain } from "./devnet-chain.ts";
export { type DevnetKeys, deriveDevnetKeys } from "./devnet-keys.ts";
export { type Costume, dressChain } from "./dress/dress-chain.ts";
export { placeContract } from "./dress/place-contract.ts";
export { feedInitCodeFor } from "./feed-init-code.ts";
export { fundWallet } from "./fund-wallet.ts";
export { withoutBlocks } from "./keep-pace.ts";
export type { KmsKey } from "./kms/kms-keys.ts";
export { type Kms, type KmsMood, startKms } from "./kms/start-kms.ts";
export { type Liar, type LyingNode, type LyingNodeCall, startLyingNode } from "./lying-node.ts";
export { makeSoftHsm, type SoftHsm } from "./make-soft-hsm.ts";
export { movePrice, type PriceMove } from "./move-price.ts";
export { moveSolPrice } from "./move-sol-price.ts";
export { type FeedReading, readFeeds, refreshFeeds } from "./refresh-feeds.ts";
export { type RollupNode, startRollupNode } from "./rollup/start-rollup-node.ts";
export { sendAllAs } from "./send-as.ts";
export { describeSolana, type SolanaFeeds } from "./solana/describe-solana.ts";
export {
	deriveSolanaDevnetKeys,
	developmentSolanaAddresses,
	type SolanaDevnetKeys,
	solanaAddressOfKey,
} from "./solana/development-solana-keys.ts";
export type { SolanaFaults } from "./solana/faults.ts";
export { connectSolanaAdmin, type SolanaAdmin } from "./solana/solana-admin.ts";
export { solanaKeyVariables } from "./solana/solana-key-variables.ts";
export { type SolanaProcess, startSolana } from "./solana/start-solana.ts";
export { startTestSolana, type TestSolana } from "./solana/start-test-solana.ts";
export { solanaFeeds } from "./solana-feeds.ts";
export { findBinary } from "./stack/find-binary.ts";
export { forgedIdentity, forgedInvocation, forgeEngineCall } from "./stack/forge-engine-call.ts";
export { identityKeyOf } from "./stack/identity-key-of.ts";
export { isListening, portSource } from "./stack/port-source.ts";
export { baseEnvironment, createApiKey, serverCommand, serverMain } from "./stack/server-command.ts";
export type { StackSigning } from "./stack/server-processes.ts";
export { type ServiceOptions, type ServiceProcess, serviceProcess } from "./stack/service-process.ts";
export {
	attesterConfig,
	relayerKeys,
	type StackConfig,
	stackConfig,
	treasurerKeys,
} from "./stack/stack-config.ts";
export { defaultStackPort, readStackFile, stackDataDir } from "./stack/stack-file.ts";
export { databaseLogins, startPostgres } from "./stack/start-postgres.ts";
export { startRedis } from "./stack/start-redis.ts";
export { restateBinary, startRestate } from "./stack/start-restate.ts";
export { rotatedSealKeys, type Stack, type StackChains, startStack } from "./stack/start-stack.ts";
export { waitUntil } from "./stack/wait-until.ts";
export { startAnvil } from "./start-anvil.ts";
export { type Devnet, startDevnet } from "./start-devnet.ts";
export {
	type ChainRhythm,
	startAddedChain,
	startTestChains,
	type TestChains,
} from "./start-test-chains.ts";
export { quoterAbi, routerAbi } from "./uniswap-abi.ts";
