export { foundryBinary } from "../foundry-binary.ts";
export { accessManagerAbi } from "./access-manager-abi.ts";
export {
	type DeployConfig,
	type DeployConfigInput,
	parseDeployConfig,
	readDeployConfig,
} from "./deploy-config.ts";
export { deployContracts, planContracts, type StepReport } from "./deploy-contracts.ts";
export { DeployError } from "./deploy-error.ts";
export { type DeterministicDeployment, deterministicDeployment } from "./deterministic-deployment.ts";
export { developmentChainIds, devnetKeys, devnetMnemonic } from "./development-keys.ts";
export { type Artifact, readAccessManagerArtifact, readArtifact } from "./read-artifact.ts";
export { guardianRole, operatorRole, selectorsOf, treasuryRole } from "./vault-roles.ts";
