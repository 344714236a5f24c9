import { relative } from "node:path";
import type { SolanaDeployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import type { SolanaEndpoint } from "./devnet-files.ts";
import { type SolanaDevnetKeys, solanaAddressOfKey } from "./solana/development-solana-keys.ts";
import type { Devnet } from "./start-devnet.ts";

/** Describes the devnet's endpoints, contracts and keys for the terminal. */
export function describeDevnet({ running, deployment, keys, solanaKeys, files }: Devnet): string {
	const lines: string[] = [];
	const columns = deployment.chains.map((chain) => ({
		chain,
		rpcUrl: running.chains.find(({ chainId }) => chainId === chain.chainId)?.rpcUrl ?? "",
	}));
	const row = (title: string, cells: string[]) =>
		lines.push(`  ${title.padEnd(16)}${cells.map((cell) => cell.padEnd(44)).join("")}`.trimEnd());
	const each = (title: string, cell: (chain: (typeof columns)[number]["chain"]) => string) =>
		row(
			title,
			columns.map(({ chain }) => cell(chain)),
		);

	lines.push("Chains");
	each("", (chain) => `${chain.name} (${chain.chainId})`);
	row(
		"rpc",
		columns.map(({ rpcUrl }) => rpcUrl),
	);
	for (const [title, key] of [
		["GeoAccount", "delegate"],
		["… typed only", "typedDelegate"],
		["GeoEscrow", "escrow"],
		["GeoVault", "vault"],
		["AccessManager", "accessManager"],
	] as const) {
		each(title, (chain) => chain.contracts[key]);
	}
	each("SwapRouter02", (chain) => chain.uniswap.router);
	each("QuoterV2", (chain) => chain.uniswap.quoterV2);

	lines.push("", "Assets");
	for (const { symbol, decimals, kind } of deployment.chains[0]?.assets ?? []) {
		each(symbol, (chain) => chain.assets.find((asset) => asset.symbol === symbol)?.address ?? "");
		lines.push(`  ${"".padEnd(16)}${decimals} decimals, ${kind}`);
	}
	each(
		deployment.chains[0]?.feeDiscountToken?.symbol ?? "",
		(chain) => chain.feeDiscountToken?.address ?? "",
	);

	lines.push("", "Wallets with tokens and 0 wei (development keys, see the keys file)");
	for (const key of keys.wallets) lines.push(`  ${privateKeyToAddress(key)}`);
	lines.push("", "Relayers");
	for (const key of keys.relayers) lines.push(`  ${privateKeyToAddress(key)}`);
	lines.push(...describeSolana(running.solana, deployment.solana, solanaKeys));
	lines.push("", "Models of Circle's CCTP");
	each("messenger", (chain) => chain.cctp?.tokenMessenger ?? "");
	each("transmitter", (chain) => chain.cctp?.messageTransmitter ?? "");
	row("Iris", [running.irisUrl]);
	lines.push("", "Files");
	lines.push(`  ${"deployment".padEnd(16)}${relative(process.cwd(), files.deployment)}`);
	lines.push(`  ${"keys".padEnd(16)}${relative(process.cwd(), files.keys)}`);
	return lines.join("\n");
}

function describeSolana(
	{ rpcUrl, wsUrl }: SolanaEndpoint,
	deployment: SolanaDeployment | undefined,
	keys: SolanaDevnetKeys,
): string[] {
	if (!deployment) return [];
	const row = (title: string, value: string) => `  ${title.padEnd(16)}${value}`;
	return [
		"",
		`${deployment.name} (${deployment.chainId})`,
		row("rpc", rpcUrl),
		row("subscriptions", wsUrl),
		row("program", deployment.program.address),
		row("vault", deployment.program.vault),
		...deployment.feePayers.map((address) => row("fee payer", address)),
		...deployment.assets.map(({ symbol, address }) => row(symbol, address)),
		...keys.wallets.map((key) => row("wallet", solanaAddressOfKey(key))),
	];
}
