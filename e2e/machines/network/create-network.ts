import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Machine, machineOf, run } from "./machine.ts";

/** The name under which the machines reach this one, on which the chains run. */
export const hereName = "chains";

export type Network<Name extends string> = {
	machines: Record<Name, Machine>;
	/** Makes a port of this machine's loopback reachable at `chains:port`. */
	publish: (port: number) => void;
	remove: () => Promise<void>;
};

const prefix = "geoswap-";
/** The folder from which `ip netns exec` takes the files that replace those of /etc. */
const etcFolder = "/etc/netns";

/**
 * Creates machines with these names on one bridge. Needs root, and the programs `ip`, `bridge` and `iptables`. They end
 * with `remove`; those of a process that was killed are removed by the next one.
 */
export async function createNetwork<Name extends string>(names: readonly Name[]): Promise<Network<Name>> {
	if (process.getuid?.() !== 0) throw new Error("network namespaces need root; run this as root");
	await removeAbandoned();
	const { pid } = process;
	// Process ids go up to 2^22, so two concurrent processes rarely get the same network.
	const subnet = `10.${200 + (pid % 50)}.${Math.floor(pid / 50) % 256}`;
	const [bridge, here] = [`gsw${pid}`, `${subnet}.1`];
	const rules: string[][] = [];
	run("ip", ["link", "add", bridge, "type", "bridge"]);
	run("ip", ["addr", "add", `${here}/24`, "dev", bridge]);
	run("ip", ["link", "set", bridge, "up"]);
	// The chains listen on loopback, to which packets from elsewhere are not routed otherwise.
	run("sysctl", ["-qw", `net.ipv4.conf.${bridge}.route_localnet=1`]);
	const addresses = names.map((name, i) => ({ name, address: `${subnet}.${i + 2}` }));
	const hosts = [{ name: hereName, address: here }, { name: "localhost", address: "127.0.0.1" }, ...addresses]
		.map(({ name, address }) => `${address} ${name}\n`)
		.join("");
	const machines = addresses.map(({ name, address }, i) => {
		const namespace = namespaceOf(pid, name);
		const port = `${bridge}.${i}`;
		mkdirSync(join(etcFolder, namespace), { recursive: true });
		writeFileSync(join(etcFolder, namespace, "hosts"), hosts);
		run("ip", ["netns", "add", namespace]);
		run("ip", ["link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", namespace]);
		run("ip", ["link", "set", port, "master", bridge, "up"]);
		run("ip", ["-n", namespace, "addr", "add", `${address}/24`, "dev", "eth0"]);
		for (const link of ["eth0", "lo"]) run("ip", ["-n", namespace, "link", "set", link, "up"]);
		return machineOf({ name, address, namespace, port });
	});
	return {
		machines: Object.fromEntries(machines.map((machine) => [machine.name, machine])) as Record<Name, Machine>,
		publish: (port) => {
			const rule = [
				...["PREROUTING", "-i", bridge, "-d", here, "-p", "tcp", "--dport", String(port)],
				...["-j", "DNAT", "--to-destination", `127.0.0.1:${port}`],
			];
			run("iptables", ["-w", "-t", "nat", "-A", ...rule]);
			rules.push(rule);
		},
		remove: async () => {
			for (const rule of rules.splice(0)) run("iptables", ["-w", "-t", "nat", "-D", ...rule]);
			for (const { name } of addresses) await removeNamespace(namespaceOf(pid, name));
			run("ip", ["link", "del", bridge]);
		},
	};
}

function namespaceOf(pid: number, name: string): string {
	return `${prefix}${pid}-${name}`;
}

async function removeNamespace(namespace: string): Promise<void> {
	await machineOf({ name: namespace, address: "", namespace, port: "" }).kill();
	run("ip", ["netns", "del", namespace]);
	rmSync(join(etcFolder, namespace), { recursive: true, force: true });
}

/** Removes the networks of processes that were killed. */
async function removeAbandoned(): Promise<void> {
	if (!existsSync(etcFolder)) return;
	const abandoned = new Set<number>();
	for (const namespace of readdirSync(etcFolder)) {
		const owner = Number.parseInt(namespace.slice(prefix.length), 10);
		if (!namespace.startsWith(prefix) || existsSync(`/proc/${owner}`)) continue;
		abandoned.add(owner);
		if (existsSync(`/run/netns/${namespace}`)) await removeNamespace(namespace);
		rmSync(join(etcFolder, namespace), { recursive: true, force: true });
	}
	for (const owner of abandoned) {
		const bridge = `gsw${owner}`;
		for (const rule of run("iptables", ["-w", "-t", "nat", "-S", "PREROUTING"]).split("\n")) {
			if (rule.includes(` -i ${bridge} `))
				run("iptables", ["-w", "-t", "nat", "-D", ...rule.split(" ").slice(1)]);
		}
		if (existsSync(`/sys/class/net/${bridge}`)) run("ip", ["link", "del", bridge]);
	}
}
