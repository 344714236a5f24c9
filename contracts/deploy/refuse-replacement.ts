import type { ChainDeployment } from "@geoswap/protocol";
import { DeployError } from "./deploy-error.ts";
import type { DeployedContracts } from "./deploy-steps.ts";

/**
 * Throws if this run would deploy to other addresses than the file lists, because the deployer, the code or an address
 * in the config changed. The new vault would be empty: the inventory, the tokens from which swaps are paid out, would
 * stay in the old one. A run with `--replace` does not call this.
 */
export function refuseReplacement(earlier: ChainDeployment, contracts: DeployedContracts): void {
	const replaced = (["accessManager", "escrow", "vault"] as const).filter(
		(name) => earlier.contracts[name] !== contracts[name],
	);
	if (replaced.length === 0) return;
	const changes = replaced.map((name) => `${name} (${earlier.contracts[name]} → ${contracts[name]})`);
	throw new DeployError(
		`this run would replace contracts of chain ${earlier.chainId} that the deployment file lists: ${changes.join(", ")}`,
		{
			next: "use the deployer, the code and the config addresses with which those were deployed; to replace them, pass --replace: the file then lists the old vault and escrow as earlier contracts",
		},
	);
}
