import { fileStore } from "../src/file-store.ts";

// A process that uses a store until it is killed.
const [directory = "", id = "", task = ""] = process.argv.slice(2);
const store = fileStore(directory);
const say = (line: string) => process.stdout.write(`${line}\n`);

switch (task) {
	case "write":
		// Each text is longer than the one before, so that none looks like a part of another.
		for (let n = 1; ; n++) {
			await store.set(id, JSON.stringify({ n, filling: "x".repeat(n * 1_000) }));
			say(String(n));
		}
	case "hold":
		say((await store.lock(id)) ? "held" : "not held");
		setInterval(() => {}, 1_000);
		break;
	case "try":
		for (let taken = 0; taken < 20; ) {
			const unlock = await store.lock(id);
			if (!unlock) continue;
			taken++;
			// The lock ensures that no other process writes between the read and the write.
			const before = Number((await store.get(id)) ?? 0);
			await store.set(id, String(before + 1));
			await unlock();
		}
}
