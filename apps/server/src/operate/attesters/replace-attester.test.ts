import { attesterSetHash, type Deployment } from "@geoswap/protocol";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { replaceAttester } from "./replace-attester.ts";

const newAddress = () => privateKeyToAddress(generatePrivateKey());
const ascending = (addresses: `0x${string}`[]) =>
	addresses.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
const members = ascending([newAddress(), newAddress(), newAddress()]);
const [from = "0x"] = members;

/** Returns chains with these attester sets. Only the sets matter here. */
function deploymentWith(...sets: `0x${string}`[][]): Deployment {
	const chains = sets.map((attesters, i) => {
		const set = { threshold: 2, attesters };
		return { chainId: i + 1, attesterSet: { ...set, hash: attesterSetHash(set) } };
	});
	return { chains } as unknown as Deployment;
}

test("a new attester takes the place of an old one on every chain that has it, and each old set is listed once", () => {
	const others = ascending([newAddress(), newAddress()]);
	const to = newAddress();
	const { deployment, retired } = replaceAttester(deploymentWith(members, members, others), { from, to });
	const expected = { threshold: 2, attesters: ascending([...members.slice(1), to]) };
	const sets = deployment.chains.map(({ attesterSet }) => attesterSet);
	expect(sets.slice(0, 2)).toEqual(Array(2).fill({ ...expected, hash: attesterSetHash(expected) }));
	expect(sets[2]?.attesters).toEqual(others);
	expect(retired).toEqual([{ threshold: 2, attesters: members }]);
});

test("the attesters of Solana's program are replaced with those of the other chains", () => {
	const to = newAddress();
	const { chains } = deploymentWith(members);
	const program = { operator: "o", attesterSet: chains[0]?.attesterSet };
	const solana = { chainId: 7, program, feePayers: ["f"] };
	const before = { chains, solana } as unknown as Deployment;
	const { deployment, retired } = replaceAttester(before, { from, to });
	const attesterSet = deployment.chains[0]?.attesterSet;
	expect(attesterSet?.attesters).toContain(to);
	expect(deployment.solana).toEqual({ ...solana, program: { ...program, attesterSet } });
	expect(retired).toEqual([{ threshold: 2, attesters: members }]);
	const onlySolana = { chains: [], solana } as unknown as Deployment;
	expect(replaceAttester(onlySolana, { from, to }).deployment.solana).toEqual(deployment.solana);
});

test("an attester that no chain has is not replaced, and one that a chain has already is not added", () => {
	const stranger = newAddress();
	const to = members[1] ?? "0x";
	expect(() => replaceAttester(deploymentWith(members), { from: stranger, to: newAddress() })).toThrow(
		"is in no chain's attester set",
	);
	expect(() => replaceAttester(deploymentWith(members), { from, to })).toThrow("already");
});
