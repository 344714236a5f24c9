// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {CapKind} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {packDeadlines, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {IRoute} from "../base/World.sol";

contract CapsFuzzTest is Moves {
    /// @dev A cap: of fills, of top-ups (which count as fills of the native token), of trades, or of one of two
    /// addresses or routes.
    struct Way {
        CapKind kind;
        address token;
        address to;
    }

    uint256 private constant WAYS = 7;
    uint256 private constant FILL = 0;
    uint256 private constant TOP_UP = 1;

    IRoute private secondRoute;
    uint256[] private times;
    uint256[] private amounts;

    function setUp() public override {
        super.setUp();
        secondRoute =
            _deployRoute(address(vault), address(messenger), address(plain), DOMAIN, VAULT_THERE, ROUTE_FEE_BPS);
        plain.mint(address(vault), 1e30);
        other.mint(address(vault), 1e30);
        plain.mint(address(router.POOLS()), 1e30);
        vm.deal(address(vault), 1e30);
    }

    /// @dev For any amounts at any times, at most the cap leaves at any moment, and at most twice the cap in any hour.
    function testFuzz_noHourLetsOutMoreThanTwiceTheCap(
        uint8 seed,
        uint96 cap,
        uint256[12] memory asked,
        uint16[12] memory pauses
    ) public {
        Way memory way = _way(seed % WAYS);
        cap = uint96(1 + cap % 1e24);
        _cap(way.kind, way.token, way.to, cap);
        for (uint256 i = 0; i < asked.length; ++i) {
            vm.warp(vm.getBlockTimestamp() + pauses[i] % 3000);
            uint256 available = _availableBy(way);
            // Often all that there is, and sometimes one more.
            uint256 amount = asked[i] % 3 == 0 ? available : 1 + asked[i] % (uint256(cap) + 1);
            if (asked[i] % 7 == 0) amount = available + 1;
            if (amount == 0) continue;
            if (amount > available) {
                vm.expectRevert(abi.encodeWithSelector(CapExceeded.selector, amount, available));
                _spend(seed % WAYS, amount);
                continue;
            }
            _spend(seed % WAYS, amount);
            vm.assertLe(amount, cap, "cap: more left at once than the cap");
            vm.assertEq(_availableBy(way), available - amount, "cap: available");
            times.push(vm.getBlockTimestamp());
            amounts.push(amount);
            vm.assertLe(_withinTheHour(), 2 * uint256(cap), "cap: more left within an hour than twice the cap");
        }
    }

    function testFuzz_whatIsAvailableNeverExceedsTheCap(
        uint8 seed,
        uint96 first,
        uint96 second,
        uint96 spent,
        uint32 later
    ) public {
        vm.assume(first != 0 && spent != 0);
        Way memory way = _way(seed % WAYS);
        spent = uint96(1 + (spent - 1) % first);
        _cap(way.kind, way.token, way.to, first);
        _spend(seed % WAYS, spent);
        _cap(way.kind, way.token, way.to, second);
        vm.assertLe(_availableBy(way), second, "more than the new cap");
        // What was used counts in a higher cap as well, and fills a lower one.
        uint256 used = spent < second ? spent : second;
        vm.assertEq(_availableBy(way), second - used, "what was used is forgotten");
        vm.warp(NOW + later);
        vm.assertLe(_availableBy(way), second, "more than the new cap, later");
        if (later >= 1 hours) vm.assertEq(_availableBy(way), second, "an hour later");
    }

    /// @dev No cap takes from another, be it of another kind, token or address.
    function testFuzz_eachCapCountsByItself(uint8 seed, uint96[7] memory caps, uint96 spent) public {
        uint256[7] memory before;
        for (uint256 i = 0; i < WAYS; ++i) {
            Way memory way = _way(i);
            caps[i] = uint96(1 + caps[i] % 1e24);
            _cap(way.kind, way.token, way.to, caps[i]);
            before[i] = caps[i];
        }
        uint256 chosen = seed % WAYS;
        spent = uint96(1 + spent % caps[chosen]);
        // The token that comes with a top-up counts in a separate cap, by one unit.
        if (chosen == TOP_UP) before[FILL] -= 1;
        before[chosen] -= spent;
        _spend(chosen, spent);
        for (uint256 i = 0; i < WAYS; ++i) {
            vm.assertEq(_availableBy(_way(i)), before[i], "available");
        }
    }

    function _way(uint256 index) private view returns (Way memory) {
        if (index == FILL) return Way(CapKind.Fill, address(other), NATIVE);
        if (index == TOP_UP) return Way(CapKind.Fill, NATIVE, NATIVE);
        if (index == 2) return Way(CapKind.Trade, address(other), NATIVE);
        if (index == 3) return Way(CapKind.Send, address(other), relayer);
        if (index == 4) return Way(CapKind.Send, address(other), coldSafe);
        if (index == 5) return Way(CapKind.Bridge, address(plain), address(route));
        return Way(CapKind.Bridge, address(plain), address(secondRoute));
    }

    function _spend(uint256 index, uint256 amount) private {
        Way memory way = _way(index);
        bytes32 moveId = _nextMove();
        if (way.kind == CapKind.Trade) _trade(moveId, way.token, address(plain), amount, 0);
        else if (way.kind == CapKind.Send) _send(moveId, way.token, way.to, amount);
        else if (way.kind == CapKind.Bridge) _bridge(moveId, way.token, way.to, amount, FINAL);
        else _fill(_inventoryFill(_orderOf(moveId, index == TOP_UP ? 1 : amount, index == TOP_UP ? amount : 0)));
    }

    function _orderOf(bytes32 key, uint256 amount, uint256 topUp) private view returns (Order memory order) {
        order = _orderFromThere();
        (order.swapKey, order.minOutput, order.topUp) = (key, amount, topUp);
        order.outputToken = word(address(other));
        uint256 time = vm.getBlockTimestamp();
        order.deadlines = packDeadlines(time + 1, time + 2, time + 3);
    }

    function _availableBy(Way memory way) private view returns (uint256) {
        return _available(way.kind, way.token, way.to);
    }

    function _withinTheHour() private view returns (uint256 sum) {
        for (uint256 i = 0; i < times.length; ++i) {
            if (times[i] + 1 hours > vm.getBlockTimestamp()) sum += amounts[i];
        }
    }
}
