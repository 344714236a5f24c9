import type { DeployConfigInput } from "@geoswap/contracts";
import type { ChainDeployment } from "@geoswap/protocol";

/** Returns the config that leads to this deployment without routes, with other members in its roles. */
export function deployConfigFor(
	{ contracts, attesterSet, deployedAtBlock: _, cctp: __, ...chain }: ChainDeployment,
	roles: DeployConfigInput["roles"],
): DeployConfigInput {
	return {
		...chain,
		permit2: contracts.permit2,
		attesterSet: { threshold: attesterSet.threshold, attesters: attesterSet.attesters },
		roles,
		outflowCaps: Object.fromEntries(
			chain.assets.map(({ symbol }, i) => [symbol, String(1_000_000 * (i + 1))]),
		),
	};
}
