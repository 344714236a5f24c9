export { geoAccountAbi } from "./abi/geo-account-abi.ts";
export { geoEscrowAbi } from "./abi/geo-escrow-abi.ts";
export { geoVaultAbi } from "./abi/geo-vault-abi.ts";
export { greater, lesser, mulDivDown, mulDivUp, rescaleDown, rescaleUp, usdCents } from "./amount.ts";
export {
	type AttestationKind,
	type AttestationMessage,
	attestationDigest,
	attestationMessage,
	attestationTypedData,
} from "./attestation.ts";
export { type AttesterSet, attesterSetHash } from "./attester-set.ts";
export { attesterSetSchema } from "./attester-set-schema.ts";
export {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	isSolana,
	nativeTokenOf,
	parseAddress,
	wordOfAddress,
} from "./chain-address.ts";
export { toChainId } from "./chain-id.ts";
export { contractAddressSchema, evmAddressSchema } from "./contract-address.ts";
export { type Deadlines, leavesTimeToSettle, packDeadlines, unpackDeadlines } from "./deadlines.ts";
export {
	type AssetDeployment,
	assetDeploymentSchema,
	assetProblems,
	type ChainDeployment,
	type ChainKind,
	cctpContractsSchema,
	chainDeploymentSchema,
	chainIdKeySchema,
	chainKindSchema,
	type Deployment,
	deploymentSchema,
	feeDiscountTokenSchema,
	formatDeployment,
	uniswapDeploymentSchema,
	withChainDeployment,
} from "./deployment.ts";
export {
	type ErrorCode,
	type ErrorDetails,
	errorCatalogue,
	errorCodes,
	type NextStep,
	nextSteps,
	rateLimitReasons,
	SwapError,
} from "./error-code.ts";
export { type Attestation, type Bundle, encodeBundle, type Fill, type Opening } from "./evm/encode-bundle.ts";
export { type Call, orderCalls } from "./evm/order-calls.ts";
export { type OrderSignature, orderProof, readOrderProof, type SignatureKind } from "./evm/order-proof.ts";
export { ourContracts } from "./evm/our-contracts.ts";
export {
	type LogPart,
	type MoneyEventName,
	moneyEventTopics,
	readLogs,
	type SubjectsOf,
} from "./evm/read-logs.ts";
export { vaultPath } from "./evm/vault-path.ts";
export { type Heartbeat, heartbeatTypedData } from "./heartbeat.ts";
export {
	accountSlot,
	decodeMandate,
	encodeMandate,
	type Mandate,
	type MandateProblem,
	mandateDigest,
	mandateProblem,
	mandateTypedData,
	mandateUseSlot,
	maxMandateEntries,
	revocationTypedData,
	type SignedMandate,
} from "./mandate.ts";
export {
	escrowDomain,
	type Order,
	orderDigest,
	orderId,
	orderTerms,
	orderTypedData,
	orderTypes,
	type Terms,
} from "./order.ts";
export { type ReceiptMessage, receiptMessage, receiptTypedData } from "./receipt.ts";
export {
	accountRentLamports,
	emptyAccountRentLamports,
	tokenAccountRentLamports,
	tokenAccountSize,
} from "./solana/account-rent.ts";
export {
	compileOrderMessage,
	type OrderMessageParts,
	type OrderTransaction,
} from "./solana/compile-order-message.ts";
export { createTokenAccount } from "./solana/create-token-account.ts";
export {
	decodeDecide,
	decodeFill,
	decodePrepare,
	decodeVoid,
	type ProgramInstruction,
} from "./solana/program/decode-prepare.ts";
export { type Decision, type Ending, endingInstructions } from "./solana/program/ending-instructions.ts";
export {
	closeOrder,
	decideOrders,
	expireOrder,
	fundOrder,
	openOrder,
	payInput,
	payOrder,
	prepareOrder,
} from "./solana/program/escrow-instructions.ts";
export {
	expectDestination,
	expectOrigin,
	expectOthers,
	expectVault,
	isWithinSolana,
} from "./solana/program/expect-origin.ts";
export { type Filling, fillInstructions } from "./solana/program/fill-instructions.ts";
export { openTransaction } from "./solana/program/open-transaction.ts";
export {
	clockAddress,
	decodeClock,
	decodeOrderAccount,
	decodeRecordAccount,
	decodeVaultAccount,
	type OrderAccount,
	programAccountSizes,
	type RecordAccount,
	type VaultAccount,
	type VaultCap,
} from "./solana/program/program-accounts.ts";
export {
	inputAddress,
	orderAddress,
	recordAddress,
	vaultAddress,
} from "./solana/program/program-addresses.ts";
export {
	decodeProgramData,
	type ProgramData,
	programDataAddress,
	programLoader,
	programProblem,
} from "./solana/program/program-data.ts";
export { maxTransactionBytes, type ProgramDeployment } from "./solana/program/program-deployment.ts";
export { type ProgramEvent, readProgramEvents } from "./solana/program/program-events.ts";
export { instructionNumbers } from "./solana/program/program-instruction.ts";
export {
	acceptVault,
	closeRecord,
	createVault,
	fillOrder,
	maxVaultOperators,
	type OwnedVault,
	pauseVault,
	setVaultCap,
	setVaultRoles,
	voidOrder,
	withdrawFromVault,
} from "./solana/program/vault-instructions.ts";
export { type Voiding, voidInstructions } from "./solana/program/void-instructions.ts";
export {
	fromSolanaWord,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "./solana/solana-address.ts";
export { solanaAddressSchema } from "./solana/solana-address-schema.ts";
export {
	type PlannedSolana,
	plannedSolanaSchema,
	type SolanaAssetDeployment,
	type SolanaDeployment,
	solanaDeploymentSchema,
} from "./solana/solana-deployment.ts";
export { tokenAccountOf, transferInstruction } from "./solana/transfer-instruction.ts";
export { solanaChainId } from "./solana-chain-id.ts";
export {
	firstSwapUuidAt,
	fromSwapId,
	fromSwapKey,
	newSwapUuid,
	type SwapId,
	type SwapUuid,
	spareSwapUuid,
	swapUuidTimeMs,
	toSwapId,
	toSwapKey,
} from "./swap-id.ts";
export {
	canMove,
	type FailureCode,
	failureCodes,
	isTerminal,
	type SwapStage,
	type SwapStatus,
	swapStages,
	swapStatuses,
	swapTransitions,
} from "./swap-status.ts";
export type { Amount, Milliseconds, Seconds, UsdCents, UsdE18, Wei } from "./units.ts";
export {
	type Authorization,
	type AuthorizationBody,
	authorizationSchema,
	type BuildResponse,
	buildRequestSchema,
	buildResponseSchema,
	type GeoOp,
	geoOpSchema,
} from "./wire/build.ts";
export {
	type BuildSolanaResponse,
	buildSolanaResponseSchema,
	type SolanaOp,
	solanaOpSchema,
} from "./wire/build-solana.ts";
export {
	type ChainEntry,
	type ChainsResponse,
	chainsResponseSchema,
} from "./wire/chains.ts";
export {
	type DelegationQuery,
	type DelegationResponse,
	delegationQuerySchema,
	delegationResponseSchema,
	type RemoveDelegationResponse,
	removeDelegationRequestSchema,
	removeDelegationResponseSchema,
} from "./wire/delegation.ts";
export { type SwapEventBody, swapEventSchema } from "./wire/events.ts";
export {
	type ErrorBody,
	errorBodySchema,
	openEnum,
} from "./wire/fields.ts";
export { type MandateJson, mandateToJson, signedMandateSchema } from "./wire/mandate.ts";
export { orderSchema } from "./wire/order.ts";
export { type OrderJson, orderToJson, orderTypedDataToJson } from "./wire/order-json.ts";
export {
	noZeroSlippage,
	type QuoteRequest,
	type QuoteRequestBody,
	type QuoteResponse,
	quoteRequestSchema,
	quoteResponseSchema,
} from "./wire/quote.ts";
export { type ReadyResponse, readyResponseSchema } from "./wire/ready.ts";
export { receiptResponseSchema, type SwapReceipt } from "./wire/receipt.ts";
export {
	type RevokedShares,
	revokedSharesSchema,
	type ShareResponse,
	shareResponseSchema,
} from "./wire/share.ts";
export { type StatsResponse, statsResponseSchema } from "./wire/stats.ts";
export { type StatusResponse, statusQuerySchema, statusResponseSchema } from "./wire/status.ts";
export {
	type SubmitResponse,
	submitRequestSchema,
	submitResponseSchema,
	submitSolanaRequestSchema,
} from "./wire/submit.ts";
export { type SwapsResponse, swapsQuerySchema, swapsResponseSchema } from "./wire/swaps.ts";
export { type OrderTermsJson, termsOfOrder } from "./wire/terms-of-order.ts";
export {
	type TokenEntry,
	type TokensResponse,
	tokensQuerySchema,
	tokensResponseSchema,
} from "./wire/tokens.ts";
export { type TypedDataJson, typedDataToJson } from "./wire/typed-data-json.ts";
export {
	type RemovedWebhook,
	type RotatedWebhook,
	removedWebhookSchema,
	rotatedWebhookSchema,
	type WebhookResponse,
	type WebhooksResponse,
	webhookRequestSchema,
	webhookResponseSchema,
	webhooksResponseSchema,
} from "./wire/webhooks.ts";
export { fromWord, toWord } from "./word.ts";
