import type { ChainDeployment } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { type ContractPlace, refusesAll } from "./create-evm-context.ts";
import { lower } from "./evm-call.ts";
import { createSimAccount } from "./sim-account.ts";
import { createSimEntryPoint } from "./sim-entry-point.ts";
import { createSimEscrow } from "./sim-escrow.ts";
import { tokenKindOf } from "./sim-evm-deployment.ts";
import { simMulticall } from "./sim-multicall.ts";
import { createSimToken, hollowToken } from "./sim-token.ts";
import { createSimVault, type VaultRoles } from "./sim-vault.ts";

const multicall3Address = "0xca11bde05977b3631167028862be2a173976ca11";

/** Returns the contracts of a deployment, by address in lower case. */
export function placeContracts({
	deployment,
	roles,
}: {
	deployment: ChainDeployment;
	roles: VaultRoles;
}): Map<string, ContractPlace> {
	const { chainId, contracts, assets, feeDiscountToken } = deployment;
	const { entryPoint, delegate, earlierDelegates, escrow, vault } = contracts;
	const delegates = [delegate, ...earlierDelegates];
	const tokens = [...assets, ...(feeDiscountToken ? [feeDiscountToken] : [])];
	const places: [string, ContractPlace][] = [
		...tokens
			.filter(({ address }) => address !== zeroAddress)
			.map(({ address, symbol, decimals }): [string, ContractPlace] => {
				const run = createSimToken({ kind: tokenKindOf(symbol), symbol, decimals });
				return [address, { kind: "token", run }];
			}),
		...delegates.map((address): [string, ContractPlace] => [
			address,
			{ kind: "delegate", run: createSimAccount({ entryPoint }) },
		]),
		[
			entryPoint,
			{ kind: "entry-point", run: createSimEntryPoint({ chainId, address: entryPoint, delegates }) },
		],
		[escrow, { kind: "escrow", run: createSimEscrow({ chainId, address: escrow }) }],
		[vault, { kind: "vault", run: createSimVault({ chainId, address: vault, escrow, roles }) }],
		[hollowToken, { kind: "token", run: createSimToken({ kind: "hollow", symbol: "HOLLOW", decimals: 18 }) }],
		[multicall3Address, { kind: "multicall", run: simMulticall }],
		[contracts.accessManager, { kind: "other", run: refusesAll }],
	];
	return new Map(places.map(([address, place]) => [lower(address), place]));
}
