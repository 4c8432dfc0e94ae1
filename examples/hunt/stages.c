// SPDX-License-Identifier: GPL-2.0
/* A non-preemptible section behind three calls of a device, for `cargo xtask bench hunt`. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/preempt.h>

/* Lengths differ: the compiler merges functions that are the same. */
#define SECTION(name, turns)                                         \
	static noinline void name(void)                              \
	{                                                            \
		preempt_disable();                                   \
		for (unsigned long i = 0; i < (turns); i++)          \
			asm volatile("nop");                         \
		preempt_enable();                                    \
	}

SECTION(stages_first, 100)
SECTION(stages_second, 120)
SECTION(stages_hold, 100000)

static int stages_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static long stages_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	unsigned long stage = (unsigned long)file->private_data;

	if (command == 0x7001 && stage == 0 && argument > 0x100)
		stages_first();
	else if (command == 0x7002 && stage == 1 && argument >= 0x1000 && argument < 0x2000)
		stages_second();
	else if (command == 0x7003 && stage == 2 && (argument & 7) == 5)
		stages_hold();
	else
		return -EINVAL;
	file->private_data = (void *)(stage + 1);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = stages_open,
	.unlocked_ioctl = stages_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "stages",
	.fops = &operations,
	.mode = 0666,
};

module_misc_device(device);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A section behind three calls");
