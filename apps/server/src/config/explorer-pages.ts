import type { Config } from "./config.ts";

/** Functions that return the address of a block explorer's page. They return undefined for a chain without an explorer. */
export type ExplorerPages = {
	transaction(chainId: number, hash: string): string | undefined;
	address(chainId: number, address: string): string | undefined;
};

export function createExplorerPages({ chains }: Pick<Config, "chains">): ExplorerPages {
	const explorers = new Map(
		chains.flatMap(({ chainId, explorerUrl }) => (explorerUrl === undefined ? [] : [[chainId, explorerUrl]])),
	);
	const pageOf = (chainId: number, path: string) => {
		const explorerUrl = explorers.get(chainId);
		if (explorerUrl === undefined) return undefined;
		const url = new URL(explorerUrl);
		url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
		return url.href;
	};
	return {
		transaction: (chainId, hash) => pageOf(chainId, `tx/${hash}`),
		address: (chainId, address) => pageOf(chainId, `address/${address}`),
	};
}
