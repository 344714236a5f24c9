export { foundryBinary } from "../foundry-binary.ts";
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
export { type Artifact, readArtifact } from "./read-artifact.ts";
