export { geoAccountAbi } from "./abi/geo-account-abi.ts";
export { geoEscrowAbi } from "./abi/geo-escrow-abi.ts";
export { geoVaultAbi } from "./abi/geo-vault-abi.ts";
export {
	type AttestationKind,
	type AttestationMessage,
	attestationDigest,
	attestationMessage,
	attestationTypedData,
} from "./attestation.ts";
export { type AttesterSet, attesterSetHash } from "./attester-set.ts";
export { toChainId } from "./chain-id.ts";
export { type Deadlines, packDeadlines, unpackDeadlines } from "./deadlines.ts";
export {
	type AssetDeployment,
	assetDeploymentSchema,
	assetProblems,
	attesterSetSchema,
	type ChainDeployment,
	type ChainKind,
	chainDeploymentSchema,
	chainKindSchema,
	type Deployment,
	deploymentSchema,
	evmAddressSchema,
	feeDiscountTokenSchema,
	formatDeployment,
	uniswapDeploymentSchema,
	withChainDeployment,
} from "./deployment.ts";
export { type Call, orderCalls } from "./evm/order-calls.ts";
export { type OrderUserOp, orderUserOp, type UserOpGas, userOpNonce } from "./evm/order-user-op.ts";
export { vaultPath } from "./evm/vault-path.ts";
export { type Order, orderId, orderTerms, type Terms } from "./order.ts";
export { fromWord, toWord } from "./word.ts";
