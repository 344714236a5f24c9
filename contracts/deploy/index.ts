export { foundryBinary } from "../foundry-binary.ts";
export { accessManagerAbi } from "./access-manager-abi.ts";
export { checkCctp } from "./check-cctp.ts";
export { checkToken } from "./check-tokens.ts";
export { checkUniswap } from "./check-uniswap.ts";
export {
	type DeployConfig,
	type DeployConfigInput,
	parseDeployConfig,
	readDeployConfig,
} from "./deploy-config.ts";
export { deployContracts, planContracts, type StepReport } from "./deploy-contracts.ts";
export { DeployError } from "./deploy-error.ts";
export {
	type DeterministicDeployment,
	deterministicDeployer,
	deterministicDeployment,
} from "./deterministic-deployment.ts";
export { developmentChainIds, devnetKeys, devnetMnemonic } from "./development-keys.ts";
export { expectCode } from "./expect-code.ts";
export { type Artifact, readAccessManagerArtifact, readArtifact } from "./read-artifact.ts";
export { checkSequencerFeed, type FeedReading, readFeed } from "./read-feeds.ts";
export { selectorsOf, vaultRoles } from "./vault-roles.ts";
