import type { ChainDeployment } from "@geoswap/protocol";
import { DeployError } from "./deploy-error.ts";
import type { DeployedContracts } from "./deploy-steps.ts";

/**
 * Throws if another deployer or other code would give other addresses: the vault that holds the stock would be left
 * behind.
 */
export function refuseReplacement(earlier: ChainDeployment, contracts: DeployedContracts): void {
	const replaced = (["accessManager", "escrow", "vault"] as const).filter(
		(name) => earlier.contracts[name] !== contracts[name],
	);
	if (replaced.length === 0) return;
	const changes = replaced.map((name) => `${name} ${earlier.contracts[name]} by ${contracts[name]}`);
	throw new DeployError(
		`this run would replace contracts of chain ${earlier.chainId} that the deployment file lists: ${changes.join(", ")}`,
		{
			next: "use the deployer, the code and the config addresses with which those were deployed; to replace them, pass --replace, which keeps them in the file as earlier ones",
		},
	);
}
