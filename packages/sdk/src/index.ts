export type {
	AuthorizationBody,
	BuildResponse,
	BuildSolanaResponse,
	ChainEntry,
	ChainsResponse,
	Deployment,
	ErrorBody,
	ErrorCode,
	MandateJson,
	NextStep,
	QuoteRequestBody,
	SubmitResponse,
	SwapStage,
	SwapStatus,
	TokenEntry,
	TokensResponse,
	TypedDataJson,
} from "@geoswap/protocol";
export { buildOp } from "./build-op.ts";
export { buildSolanaTx } from "./build-solana-tx.ts";
export { type Client, createClient } from "./create-client.ts";
export { createMandate, type MandateLimits } from "./create-mandate.ts";
export type { EvmAccount } from "./evm-account.ts";
export { type EvmSignerOptions, evmSigner } from "./evm-signer.ts";
export { GeoswapError, type GeoswapErrorCode } from "./geoswap-error.ts";
export { getChains } from "./get-chains.ts";
export { type Delegation, getDelegation } from "./get-delegation.ts";
export { getQuote, type Quote } from "./get-quote.ts";
export { getStatus, type Swap } from "./get-status.ts";
export { getTokens } from "./get-tokens.ts";
export { listSwaps, type SwapPage } from "./list-swaps.ts";
export type { OriginSigner, Submission } from "./origin-signer.ts";
export { removeDelegation } from "./remove-delegation.ts";
export { type DelegateOption, signDelegation } from "./sign-delegation.ts";
export { stableFloor } from "./stable-floor.ts";
export { submitOp } from "./submit-op.ts";
export { submitSolana } from "./submit-solana.ts";
export { swap } from "./swap.ts";
export { getSwapState, type SwapState } from "./swap-record.ts";
export type { SwapProgress, SwapRequest, SwapTerms } from "./swap-request.ts";
export { memoryStore, type SwapStore } from "./swap-store.ts";
export { VerificationError } from "./verification-error.ts";
export { verifyAndSign } from "./verify-and-sign.ts";
export { type OpToVerify, type VerifiedOp, verifyOp } from "./verify-op.ts";
export { type EndedSwap, waitForSwap } from "./wait-for-swap.ts";
